import type { CommandOutcome, KeptOutput } from '../../contract/processes.js';
import { redact } from '../../output/redact.js';
import { sanitize } from '../../output/sanitize.js';

/** Characters of either end that are cleaned: several times what a tool shows of it, so that nothing shown is cut. */
const HEAD = 128 * 1024;
const TAIL = 16 * 1024;

/**
 * What a command printed, neutralised and redacted as far from both ends as it can be shown. Whoever cuts it afterwards
 * leaves neither half an escape sequence nor half a secret (D077). The middle of long output stays as it came.
 */
export function cleanOutcome(outcome: CommandOutcome, values: readonly string[]): CommandOutcome {
  const clean = (kept: KeptOutput): KeptOutput => (kept.binary ? kept : cleanKept(kept, values));
  return { ...outcome, stdout: clean(outcome.stdout), stderr: clean(outcome.stderr) };
}

function cleanKept(kept: KeptOutput, values: readonly string[]): KeptOutput {
  const clean = (text: string): string => (text === '' ? '' : redact(sanitize(text), { values }));
  const { head, tail } = kept;
  if (kept.omittedBytes > 0) {
    const [first, last] = [seam(head, HEAD), seam(tail, tail.length - TAIL)];
    return {
      ...kept,
      head: clean(head.slice(0, first)) + head.slice(first),
      tail: tail.slice(0, last) + clean(tail.slice(last)),
    };
  }
  if (head.length <= HEAD + TAIL) return { ...kept, head: clean(head) };
  const [first, last] = [seam(head, HEAD), seam(head, head.length - TAIL)];
  const cleaned = clean(head.slice(0, first)) + head.slice(first, last) + clean(head.slice(last));
  return { ...kept, head: cleaned };
}

/** A place near `at` where a text can be cut: never inside of a character. */
function seam(text: string, at: number): number {
  if (at <= 0) return 0;
  if (at >= text.length) return text.length;
  return (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;
}
