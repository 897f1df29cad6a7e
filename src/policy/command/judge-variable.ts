import type { Scope, Value } from './scope.js';
import type { Shell } from './shell.js';
import { INHERITED } from './stream.js';

/** Variables whose value is code, or names a file that is run. */
const RUN_AS_CODE: ReadonlySet<string> = new Set([
  ...[
    'PROMPT_COMMAND',
    'PS0',
    'PS1',
    'PS2',
    'PS4',
    'BASH_ENV',
    'ENV',
    'LD_PRELOAD',
    'LD_AUDIT',
    'LD_LIBRARY_PATH',
  ],
  ...['DYLD_INSERT_LIBRARIES', 'GIT_SSH_COMMAND', 'GIT_SSH', 'GIT_EDITOR', 'GIT_PAGER', 'GIT_EXTERNAL_DIFF'],
  ...['GIT_SEQUENCE_EDITOR', 'GIT_ASKPASS', 'GIT_PROXY_COMMAND', 'GIT_CONFIG_PARAMETERS', 'GIT_EXEC_PATH'],
  ...[
    'EDITOR',
    'VISUAL',
    'PAGER',
    'MANPAGER',
    'LESSOPEN',
    'LESSCLOSE',
    'BROWSER',
    'SSH_ASKPASS',
    'SUDO_ASKPASS',
  ],
  ...[
    'FCEDIT',
    'TAR_OPTIONS',
    'PERL5OPT',
    'PERL5DB',
    'PYTHONSTARTUP',
    'RUBYOPT',
    'NODE_OPTIONS',
    'JAVA_TOOL_OPTIONS',
  ],
  ...['RSYNC_RSH', 'CVS_RSH', 'BASH_FUNC', 'MAKEFLAGS', 'SHELLOPTS', 'BASHOPTS', 'PYTHONINSPECT', 'AWKPATH'],
]);

/** Programs that are only shown on a screen by another: naming a usual one is no code. */
const PLAIN_VALUE = /^(?:true|false|cat|less|more|vi|vim|nano|ed|:)?$/;

/** Where programs are that no workspace has put there. */
const SYSTEM_FOLDER = /^\/(?:usr|bin|sbin|opt|nix|snap)(?:\/|$)/;

export function judgeVariable(shell: Shell, name: string, value: Value, scope: Scope): void {
  if (name === 'PATH') {
    judgePath(shell, value);
    return;
  }
  if (!RUN_AS_CODE.has(name) && !name.startsWith('GIT_CONFIG_')) return;
  if (value.kind !== 'text') {
    shell.findings.ask(`The value of ${name}, which is run, is not known.`);
    return;
  }
  if (PLAIN_VALUE.test(value.text)) return;
  shell.findings.ask(`${name} names what other programs run: ${value.text}`);
  shell.runText(value.text.replace(/^[|!]-?/, ''), scope.copy(), INHERITED);
}

/** With another search path, `git` may be any program: `PATH=. git status` runs the one that lies here. */
function judgePath(shell: Shell, value: Value): void {
  const folders = value.kind === 'text' ? value.text.split(':') : [];
  const strange = folders.find((folder) => !SYSTEM_FOLDER.test(folder) || folder.split('/').includes('..'));
  if (value.kind !== 'text') shell.findings.ask('Where programs are looked for (PATH) is not known.');
  else if (strange !== undefined) {
    shell.findings.ask(`Programs are looked for in "${strange}" (PATH), which is no folder of the system.`);
  }
}
