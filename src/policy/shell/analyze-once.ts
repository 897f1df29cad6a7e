import type { CommandAnalysis } from './analysis.js';
import { analyzeCommand } from './analyze-command.js';

interface Known {
  readonly shell: 'bash' | 'sh' | undefined;
  readonly analysis: CommandAnalysis;
}

/**
 * Entries of the older map are dropped together: dropping the oldest ones individually takes longer the more there are.
 */
let [newer, older] = [new Map<string, Known>(), new Map<string, Known>()];
/** The characters left for the newer map. An analysis takes memory by the length of its text. */
let room = 0;
/** The characters of each map: a batch of 1,000 everyday commands. */
const MOST_KNOWN = 250_000;
/** Each text counts this much more. */
const OWN_SIZE = 100;
const MOST_CHARACTERS = 1_000;

/**
 * The same as `analyzeCommand`, with a cache: a command is analyzed when it is planned, when it is shown to a
 * person, and when it runs. The result is shared and must not be handed out.
 */
export function analyzeOnce(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  if (text.length > MOST_CHARACTERS) return analyzeCommand(text, shell);
  const fresh = newer.get(text);
  if (fresh !== undefined && fresh.shell === shell) return fresh.analysis;
  const known = older.get(text);
  const analysis =
    known !== undefined && known.shell === shell ? known.analysis : analyzeCommand(text, shell);
  room -= text.length + OWN_SIZE;
  if (room < 0) {
    [newer, older] = [new Map(), newer];
    room = MOST_KNOWN;
  }
  newer.set(text, { shell, analysis });
  return analysis;
}
