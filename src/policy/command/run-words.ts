import { couldMatch } from './expand/glob-match.js';
import { exactText, type Field, knownText } from './field.js';
import type { Interpreter } from './interpreter.js';
import { DANGEROUS_NAMES, findJudge, isKnown } from './judges/find-judge.js';
import { runCodeStream } from './judges/run-payload.js';
import { runsUnseen } from './report-effects.js';
import type { Scope } from './scope.js';
import { type Stream, UNKNOWN } from './stream.js';
import { writtenContent } from './written-files.js';

/** A command given as words: finds who judges it. A computed name is asked about, and judged by what it likely is. */
export function runWords(shell: Interpreter, words: readonly Field[], scope: Scope, input: Stream): Stream {
  const [command, ...args] = words;
  if (command === undefined) return UNKNOWN;
  shell.step();
  const path = nameOf(shell, command);
  // What comes to nothing is no word: the next one is the command.
  if (path === '' && !command.literal && args.length > 0) return runWords(shell, args, scope, input);
  const own = scope.functions.get(path);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { findings } = shell;
  if (own !== undefined) {
    // Whether the function was defined when this runs cannot be told for certain: `false && rm() { …; }; rm …`.
    if (isKnown(name)) findJudge(name)({ shell, findings, scope: scope.copy(), input, name, words: args });
    if (scope.calls.has(path)) return UNKNOWN;
    return shell.callFunction(own, args, scope, input);
  }
  if (shell.dialect === 'sh' && BASH_ALONE.has(name)) return UNKNOWN;
  const written = path.includes('/') ? writtenContent(command, scope) : undefined;
  if (written !== undefined)
    runCodeStream({ shell, findings, scope, input, name, words: args }, written, scope.copy());
  if (TAKES_CODE.has(name) && args.some(mayBeOptions)) findings.ask(`The options of ${name} are computed.`);
  // A program that lies somewhere is a file like others: what it touches is not told.
  if (path.includes('/') && !isKnown(name) && written === undefined) runsUnseen(findings);
  return findJudge(name)({ shell, findings, scope, input, name, words: args });
}

/** Built into bash, and nowhere to be found for another shell: there they change nothing. */
const BASH_ALONE: ReadonlySet<string> = new Set([
  ...['declare', 'typeset', 'let', 'mapfile', 'readarray', 'pushd', 'popd', 'source', 'shopt', 'enable'],
  ...['builtin', 'complete', 'compgen', 'bind', 'history', '[['],
]);

/** Programs that can be told by an option to run something else. */
const TAKES_CODE: ReadonlySet<string> = new Set([
  ...[
    'tar',
    'ssh',
    'scp',
    'sftp',
    'rsync',
    'zip',
    'find',
    'sed',
    'awk',
    'gawk',
    'sort',
    'make',
    'man',
    'split',
  ],
  ...[
    'python',
    'python3',
    'perl',
    'ruby',
    'node',
    'php',
    'lua',
    'curl',
    'wget',
    'docker',
    'npx',
    'npm',
    'nc',
    'socat',
  ],
]);

/** Not in quotes, and not known: it may come to any number of words. */
function mayBeOptions({ pieces: [first] }: Field): boolean {
  return first?.kind === 'unknown' && first.splits && !first.numeric;
}

function nameOf(shell: Interpreter, command: Field): string {
  if (command.literal) return exactText(command) ?? '';
  shell.findings.ask(`The command is computed: ${command.shown}`);
  const text = exactText(command) ?? knownText(command);
  if (!command.pieces.some(({ kind }) => kind === 'glob')) return text;
  const slash = text.lastIndexOf('/');
  const last = lastSegment(command);
  return DANGEROUS_NAMES.find((name) => couldMatch(last, name)) ?? text.slice(slash + 1);
}

function lastSegment({ pieces }: Field) {
  const reversed = [];
  for (const piece of [...pieces].reverse()) {
    if (piece.kind !== 'text' || !piece.text.includes('/')) {
      reversed.push(piece);
      continue;
    }
    reversed.push({ ...piece, text: piece.text.slice(piece.text.lastIndexOf('/') + 1) });
    break;
  }
  return reversed.reverse();
}
