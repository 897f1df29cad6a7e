import type { CommandAnalysis } from './analysis.js';
import { analyzeCommand } from './analyze-command.js';

const known = new Map<string, CommandAnalysis>();
/** How many command lines are remembered, and how long they may be. */
const MOST_KNOWN = 2_000;
const MOST_CHARACTERS = 1_000;

/**
 * The same as `analyzeCommand`, with a cache: a command is analyzed when it is planned, when it is shown to a
 * person, and when it runs. The result is shared and must not be handed out.
 */
export function analyzeOnce(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  if (text.length > MOST_CHARACTERS) return analyzeCommand(text, shell);
  const key = `${shell ?? ''}:${text}`;
  let analysis = known.get(key);
  if (analysis === undefined) {
    analysis = analyzeCommand(text, shell);
    // The oldest entry is dropped first: what this batch has planned is shown next.
    if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value ?? '');
    known.set(key, analysis);
  }
  return analysis;
}
