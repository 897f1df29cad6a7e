/** Decides which lines open a block. A fence line is three backticks and a label. */
export interface FenceLabels {
  /** Whether a line that begins like this may still become a fence line: then it is kept, until its end. */
  mayBecomeFence(head: string): boolean;
  /** The label of a whole line, or undefined when that is no fence line at all. */
  readLabel(line: string): string | undefined;
  opens(label: string): boolean;
}

const FENCE = '```';
const MAX_LINE = 100;

/**
 * By default ```tool exactly. Named labels are taken in any case and with blanks after them; the empty label is a
 * bare fence (A021, decision 15).
 */
export function createFenceLabels(labels: readonly string[] | undefined): FenceLabels {
  if (labels === undefined) return STRICT;
  const accepted = new Set(labels.map((label) => label.toLowerCase()));
  return {
    mayBecomeFence: (head) =>
      head.length < FENCE.length ? FENCE.startsWith(head) : head.startsWith(FENCE) && head.length < MAX_LINE,
    readLabel: (line) => /^```([^`\r\n]*?)[ \t]*\r?$/.exec(line)?.[1]?.toLowerCase(),
    opens: (label) => accepted.has(label),
  };
}

const STRICT: FenceLabels = {
  mayBecomeFence: (head) => '```tool\r'.startsWith(head),
  readLabel: (line) => (line === '```tool' || line === '```tool\r' ? 'tool' : undefined),
  opens: () => true,
};
