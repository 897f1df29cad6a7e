import type { CommandRequest } from '../../contract/processes.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** The state of the question about a command's changes. */
export interface LateAgreement {
  readonly state: 'open' | 'person' | 'other';
}

/**
 * Decides which new files with a denied name a command may create. A person's consent covers the names that
 * the command contains, because the person saw the command, and the names that the person was shown after the
 * command ended. A rule, a mode or an option (`--yes`) never gives this consent.
 */
export function agreedNames(
  ready: Pick<ReadyCall, 'isAgreed'>,
  late: LateAgreement | undefined,
  { command, cwd }: Pick<CommandRequest, 'command' | 'cwd'>,
): CommandRequest['mayCreate'] {
  // While the question is open, the new names are part of it.
  if (late !== undefined) return () => late.state !== 'other';
  return ready.isAgreed ? (path, isDirectory) => names(command, cwd, path, isDirectory) : undefined;
}

/**
 * Whether the command contains the path: absolute, or relative to the directory where the command starts. A
 * directory also counts if the command names a path inside it.
 */
function names(command: string, cwd: string, path: string, isDirectory: boolean): boolean {
  const spellings = [path, ...(path.startsWith(`${cwd}/`) ? [path.slice(cwd.length + 1)] : [])];
  return spellings.some((spelling) => wordsOf(command, spelling).some((next) => ends(next, isDirectory)));
}

/** Returns the text after the spelling for each word of the command that begins with the spelling. */
function wordsOf(command: string, spelling: string): readonly string[] {
  const found: string[] = [];
  for (let at = command.indexOf(spelling); at !== -1; at = command.indexOf(spelling, at + 1)) {
    const before = command.slice(0, at).replace(/(?<![\w./-])\.\/$/, '');
    if (!/[\w./@%+~-]$/.test(before)) found.push(command.slice(at + spelling.length));
  }
  return found;
}

function ends(next: string, isDirectory: boolean): boolean {
  return isDirectory ? !/^[\w.@%+~-]/.test(next) : !/^[\w./@%+~*?[{-]/.test(next);
}
