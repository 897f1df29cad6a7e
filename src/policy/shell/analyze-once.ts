import type { CommandAnalysis } from './analysis.js';
import { analyzeCommand } from './analyze-command.js';

/** Entries of the older map are dropped together: dropping the oldest one by one takes longer the more there are. */
let [newer, older] = [new Map<string, CommandAnalysis>(), new Map<string, CommandAnalysis>()];
/** How many command lines each map remembers, and how long they may be. */
const MOST_KNOWN = 2_000;
const MOST_CHARACTERS = 1_000;

/**
 * The same as `analyzeCommand`, with a cache: a command is analyzed when it is planned, when it is shown to a
 * person, and when it runs. The result is shared and must not be handed out.
 */
export function analyzeOnce(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  if (text.length > MOST_CHARACTERS) return analyzeCommand(text, shell);
  const key = `${shell ?? ''}:${text}`;
  const analysis = newer.get(key) ?? older.get(key) ?? analyzeCommand(text, shell);
  if (newer.size >= MOST_KNOWN) [newer, older] = [new Map(), newer];
  newer.set(key, analysis);
  return analysis;
}
