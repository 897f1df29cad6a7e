import type { CommandRequest } from '../../contract/processes.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** The question about what a command has changed, as far as it has come. */
export interface LateAgreement {
  readonly state: 'open' | 'person' | 'other';
}

/**
 * Which new files with a denied name a person has agreed to: those that the command names, as the person has seen it, and
 * those that were shown to the person when it had ended. A rule, a mode and an option (`--yes`) agree to none.
 */
export function agreedNames(
  ready: Pick<ReadyCall, 'isAgreed'>,
  late: LateAgreement | undefined,
  { command, cwd }: Pick<CommandRequest, 'command' | 'cwd'>,
): CommandRequest['mayCreate'] {
  // As long as the question is open it shows them.
  if (late !== undefined) return () => late.state !== 'other';
  return ready.isAgreed ? (path, isDirectory) => names(command, cwd, path, isDirectory) : undefined;
}

/** Absolute, or from where the command starts; a directory also by what is in it. */
function names(command: string, cwd: string, path: string, isDirectory: boolean): boolean {
  const spellings = [path, ...(path.startsWith(`${cwd}/`) ? [path.slice(cwd.length + 1)] : [])];
  return spellings.some((spelling) => wordsOf(command, spelling).some((next) => ends(next, isDirectory)));
}

/** What follows the spelling, wherever a word of the command begins with it. */
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
