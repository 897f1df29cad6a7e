import type { Shell } from './call.js';
import { INHERITED, type Value } from './field.js';
import { isSafeNumber, type Scope } from './scope.js';

/** Where something is evaluated. */
interface At {
  readonly shell: Shell;
  readonly scope: Scope;
}

/** A variable that a loop, a builtin or an expansion sets: a rule need not spell what only scripts name so. */
export function setVariable(at: At, name: string, value: Value): void {
  evaluateVariable(at, name, value);
  if (!OF_SCRIPTS.test(name))
    at.shell.findings.setting(`${name}=${value.kind === 'text' ? value.text : '?'}`);
  at.scope.set(name, value);
}

/** No program takes its settings from a variable of such a name. */
const OF_SCRIPTS =
  /^(?!\w*_proxy$|npm_config_)[a-z_]\w*$|^[A-Z]$|^(?:REPLY|OPTARG|OPTIND|MAPFILE|COPROC|FILE|LINE|DIR|COUNT)$/;

/** Bash evaluates what these are given as arithmetic. */
const INTEGERS = /^(?:RANDOM|SRANDOM|SECONDS|OPTIND|LINENO|HISTCMD|BASHPID|PPID|UID|EUID)$/;

/** Variables whose value is code, or names a file that is run. */
const RUN_AS_CODE: ReadonlySet<string> = new Set(
  [
    'PROMPT_COMMAND PS0 PS1 PS2 PS4 BASH_ENV ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES',
    'GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR GIT_ASKPASS',
    'GIT_PROXY_COMMAND GIT_CONFIG_PARAMETERS GIT_EXEC_PATH EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER',
    'SSH_ASKPASS SUDO_ASKPASS FCEDIT TAR_OPTIONS PERL5OPT PERL5DB PYTHONSTARTUP RUBYOPT NODE_OPTIONS',
    'JAVA_TOOL_OPTIONS RSYNC_RSH CVS_RSH BASH_FUNC MAKEFLAGS SHELLOPTS BASHOPTS PYTHONINSPECT AWKPATH',
  ].flatMap((line) => line.split(' ')),
);

/** Programs that are only shown on a screen by another: naming a usual one is no code. */
const PLAIN_VALUE = /^(?:true|false|cat|less|more|vi|vim|nano|ed|:)?$/;

/** Where programs are that no workspace has put there. */
const SYSTEM_FOLDER = /^\/(?:usr|bin|sbin|opt|nix|snap)(?:\/|$)/;

/** What setting a variable does besides: its value may be code that another program runs. */
export function evaluateVariable(at: At, name: string, value: Value): void {
  const { shell, scope } = at;
  const { findings } = shell;
  if (name === 'PATH') {
    const why = whyStrange(value);
    if (why !== undefined) findings.ask(why);
    return;
  }
  if (INTEGERS.test(name) && !isSafeNumber(value, scope)) {
    findings.ask(`${name} evaluates what it is given.`);
    if (value.kind === 'text') runSubstitutions(at, value.text);
  }
  if (name === 'CDPATH' && !(value.kind === 'text' && value.text === ''))
    findings.ask('Where cd leads is looked up elsewhere (CDPATH).');
  if (name.startsWith('BASH_FUNC_')) findings.ask('A function is handed on to other shells.');
  if (!RUN_AS_CODE.has(name) && !name.startsWith('GIT_CONFIG_')) return;
  const code = value.kind === 'text' ? value.text : undefined;
  if (code !== undefined && PLAIN_VALUE.test(code)) return;
  findings.ask(`${name}, which other programs run, is ${code ?? 'not known'}.`);
  if (code !== undefined) shell.runText(code.replace(/^[|!]-?/, ''), scope.copy(), INHERITED);
}

/** A text that is evaluated as arithmetic or as a name: what stands in `$(…)` within an index is run then. */
export function runSubstitutions({ shell, scope }: At, text: string): void {
  if (/\$\(|`/.test(text)) shell.runText(`: "${text.replaceAll('"', '')}"`, scope.copy(), INHERITED);
}

/** With another search path, `git` may be any program: `PATH=. git status` runs the one that lies here. */
function whyStrange(value: Value): string | undefined {
  if (value.kind !== 'text') return 'Where programs are looked for (PATH) is not known.';
  const strange = value.text
    .split(':')
    .find((folder) => !SYSTEM_FOLDER.test(folder) || folder.split('/').includes('..'));
  if (strange === undefined) return undefined;
  return `Programs are looked for in "${strange}" (PATH), which is no folder of the system.`;
}
