import type { CommandAnalysis } from './analysis.js';
import { analyzeCommand } from './analyze-command.js';

const known = new Map<string, CommandAnalysis>();
/** So many command lines are remembered, of at most so many characters. */
const MOST_KNOWN = 2_000;
const MOST_CHARACTERS = 1_000;

/**
 * The same as `analyzeCommand`, remembered: a command is looked at when it is planned, when a person is shown it, and when
 * it runs. What it answers is shared: it is not to be given away.
 */
export function analyzeOnce(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  if (text.length > MOST_CHARACTERS) return analyzeCommand(text, shell);
  const key = `${shell ?? ''}:${text}`;
  let analysis = known.get(key);
  if (analysis === undefined) {
    analysis = analyzeCommand(text, shell);
    // The oldest goes first: what was planned in this batch is shown next.
    if (known.size >= MOST_KNOWN) known.delete(known.keys().next().value ?? '');
    known.set(key, analysis);
  }
  return analysis;
}
