import { type Call, runAskedCode, runCode, runRest } from '../words/call.js';
import { exactText, type Field, INHERITED, literalField } from '../words/field.js';
import { Options } from '../words/options.js';
import { codesBehind, type Programs } from './program.js';
import { overwrite } from './uses.js';

export const GIT_PROGRAMS: Programs = {
  git: {
    short: 'C',
    long: 'git-dir work-tree namespace super-prefix attr-source config-env',
    leads: true,
    goesByDirectory: true,
    options: { c: 'skip' },
    when: [['ask', /^--(?:exec-path=|config-env)/m, 'takes programs or settings from elsewhere']],
    also: evaluateGit,
  },
};

/** Settings whose value is run. */
const RUN_SETTING =
  /^(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile|worktree)|pager\..*|.*\.(?:cmd|path|textconv|command|clean|smudge|process|driver|helper|program|uploadpack|receivepack|vcs|proxy)|diff\.external|sequence\.editor|credential\.helper|gpg\.program|protocol\..*\.?allow|uploadpack\..*|init\.templatedir|include\.path|includeif\..*|submodule\..*\.update|interactive\.difffilter|web\.browser|sendemail\..*)$/i;

/** Values that name a usual program, and no code. */
const PLAIN_SETTING = /^(?:cat|less|more|vim?|nano|true|false|always|never|user|store|cache|)$/;

/** Options of subcommands whose value is a command. */
const CODE_OPTION =
  /^(?:-x(.*)|(?:--exec|--extcmd|--open-files-in-pager|--(?:upload|receive)-pack|--[\w-]+-filter|--(?:smtp-server|sendmail-cmd|to-cmd|cc-cmd|header-cmd|httpd|browser))(?:=(.*))?|-O(.+))$/s;

/** `git log --output=FILE`, `git diff --output FILE`; long options may be cut short. */
const WRITES = /^--output?(?:-d[a-z]*)?(?:=(.*))?$|^--outp(?:=(.*))?$/s;

const TAKES_COMMAND =
  /^(?:rebase|difftool|grep|filter-branch|archive|clone|(?:fetch|send)-pack|fetch|pull|push|ls-remote|send-email|instaweb|web--browse)$/;

const REACHES = /^(?:clone|fetch|pull|push|ls-remote|submodule|remote|archive|fetch-pack|send-pack)$/;

function evaluateGit(call: Call, options: Options): void {
  const { findings, words, scope } = call;
  for (const setting of options.values('c')) evaluateSetting(call, exactText(setting));
  const [command, ...rest] = options.operands;
  if (words.slice(0, words.length - rest.length).some((word) => exactText(word) === undefined))
    findings.ask('The options of git are computed.');
  const name = command?.shown ?? '';
  for (const word of rest) {
    const isShort = /^(?:format-patch|archive)$/.test(name) && /^-o/.test(word.shown);
    for (const file of codesBehind(
      [word, ...rest.slice(rest.indexOf(word) + 1)].slice(0, 2),
      isShort ? /^-o(.*)$/s : WRITES,
    ))
      findings.byOption(word.shown, () => overwrite(call, file));
  }
  if (TAKES_COMMAND.test(name)) for (const code of codesBehind(rest, CODE_OPTION)) runAskedCode(call, code);
  if (REACHES.test(name)) evaluateRemote(call, name, rest);
  if (name === 'config') {
    const { operands } = new Options(rest, { short: 'f', long: ['file', 'type', 'blob', 'default'] });
    const [key, value] = operands.filter(({ shown }) => !/^[sg]et$/.test(shown));
    if (key !== undefined && value !== undefined) evaluateSetting(call, `${key.shown}=${value.shown}`);
  }
  if (name === 'bisect' && rest[0]?.shown === 'run') runRest(call, rest.slice(1));
  if (name === 'bundle' || name === 'apply')
    for (const word of rest) if (!word.shown.startsWith('-')) findings.touches('read', word, scope);
  const at = name === 'submodule' ? rest.findIndex(({ shown }) => shown === 'foreach') : -1;
  const each = rest.slice(at + 1).filter(({ shown }) => !/^--(?:recursive|quiet)$/.test(shown));
  if (at !== -1 && each[0] !== undefined && each.length === 1) runCode(call, each[0]);
  else if (at !== -1) runRest(call, each);
}

/** `NAME=VALUE`. */
function evaluateSetting({ findings, shell, scope }: Call, setting: string | undefined): void {
  if (setting === undefined) findings.ask('A setting of git is computed.');
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(setting ?? '') ?? [];
  if (!RUN_SETTING.test(name) || PLAIN_SETTING.test(value)) return;
  findings.ask(`git runs ${name}: ${value}`);
  const isOwnAlias = name.toLowerCase().startsWith('alias.') && !value.startsWith('!');
  if (!isOwnAlias) shell.runText(value.replace(/^!/, ''), scope.copy(), INHERITED);
}

function evaluateRemote(call: Call, name: string, words: readonly Field[]): void {
  const { findings, scope } = call;
  const options = new Options(words, {
    short: 'boucj',
    long: 'branch origin upload-pack receive-pack exec depth config reference template jobs'.split(' '),
  });
  if (name === 'clone')
    for (const setting of options.values('c', 'config')) evaluateSetting(call, exactText(setting));
  if (name === 'clone') for (const code of options.values('u')) runAskedCode(call, code);
  const [first, second] = options.operands;
  const address = options.operands.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:|^ext::/.test(shown))?.shown;
  if (address?.startsWith('ext::') === true) runAskedCode(call, literalField(address.slice(5)));
  const isUrl = /:\/\/|^ext::/.test(address ?? '');
  if (address !== undefined)
    findings.effect({ kind: 'fetch', url: isUrl ? address : `ssh://${address.replace(':', '/')}` });
  else if (/^(?:fetch|pull|push|ls-remote)$/.test(name))
    findings.effect({ kind: 'fetch', url: `git:${first?.shown ?? 'origin'}` });
  if (name === 'clone') findings.touches('write', second ?? literalField('.'), scope);
}
