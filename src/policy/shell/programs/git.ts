import type { Call } from '../words/call.js';
import { Field } from '../words/field.js';
import { Options } from '../words/options.js';
import { codesBehind, writesBehind } from './program.js';

/** Settings whose value is run. */
const RUN_SETTING =
  /^(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile|worktree)|pager\..*|.*\.(?:cmd|path|textconv|command|clean|smudge|process|driver|helper|program|uploadpack|receivepack|vcs|proxy)|diff\.external|sequence\.editor|credential\.helper|gpg\.program|protocol\..*\.?allow|uploadpack\..*|init\.templatedir|include\.path|includeif\..*|submodule\..*\.update|interactive\.difffilter|web\.browser|sendemail\..*)$/i;

/** Values that name a usual program, and no code. */
const PLAIN_SETTING = /^(?:cat|less|more|vim?|nano|true|false|always|never|user|store|cache|)$/;

/** Options of subcommands whose value is a command. */
const CODE_OPTION =
  /^(?:-x(.*)|(?:--exec|--extcmd|--open[a-z-]*|--(?:upload|receive)-pack|--[\w-]+-filter|--(?:smtp-server|sendmail-cmd|to-cmd|cc-cmd|header-cmd|httpd|browser))(?:=(.*))?|-O(.+))$/s;

/** `git log --output=FILE`, `git diff --output FILE`; long options may be cut short. */
const WRITES = /^--output?(?:-d[a-z]*)?(?:=(.*))?$|^--outp(?:=(.*))?$/s;

/** Of `git archive` and `git format-patch`. */
const WRITES_ALSO = new RegExp(`${WRITES.source}|^-o(.*)$`, 's');

const TEMPLATE = /^--templ(?:a|at|ate)?(?:=.|$)/s;

const TAKES_COMMAND =
  /^(?:rebase|difftool|grep|filter-branch|archive|clone|(?:fetch|send)-pack|fetch|pull|push|ls-remote|send-email|instaweb|web--browse)$/;

const REACHES = /^(?:clone|fetch|pull|push|ls-remote|submodule|remote|archive|fetch-pack|send-pack)$/;

export function evaluateGit(call: Call, options: Options): void {
  const { words } = call;
  for (const setting of options.values('c')) evaluateSetting(call, setting.exact);
  const [command, ...rest] = options.operands;
  if (words.slice(0, words.length - rest.length).some(({ exact }) => exact === undefined))
    call.ask('The options of git are computed.');
  const name = command?.shown ?? '';
  writesBehind(call, rest, /^(?:format-patch|archive)$/.test(name) ? WRITES_ALSO : WRITES);
  if (/^(?:clone|init)$/.test(name) && rest.some(({ shown }) => TEMPLATE.test(shown)))
    call.ask('git copies hooks from a template, and runs them.');
  if (TAKES_COMMAND.test(name)) for (const code of codesBehind(rest, CODE_OPTION)) call.runAskedCode(code);
  if (REACHES.test(name)) evaluateRemote(call, name, rest);
  if (name === 'config') {
    const { operands } = new Options(rest, { short: 'f', long: 'file type blob default' });
    const [key, value] = operands.filter(({ shown }) => !/^[sg]et$/.test(shown));
    if (key !== undefined && value !== undefined) evaluateSetting(call, `${key.shown}=${value.shown}`);
  }
  if (name === 'bisect' && rest[0]?.shown === 'run') call.runRest(rest.slice(1));
  if (name === 'bundle' || name === 'apply')
    for (const word of rest) if (!word.shown.startsWith('-')) call.touches('read', word);
  const at = name === 'submodule' ? rest.findIndex(({ shown }) => shown === 'foreach') : -1;
  const [each, ...more] =
    at === -1 ? [] : rest.slice(at + 1).filter(({ shown }) => !/^--(?:recursive|quiet)$/.test(shown));
  if (each !== undefined && more.length === 0) call.runCode(each);
  else if (each !== undefined) call.runRest([each, ...more]);
}

/** `NAME=VALUE`. */
function evaluateSetting(call: Call, setting: string | undefined): void {
  if (setting === undefined) call.ask('A setting of git is computed.');
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(setting ?? '') ?? [];
  if (!RUN_SETTING.test(name) || PLAIN_SETTING.test(value)) return;
  call.ask(`git runs ${name}: ${value}`);
  const isOwnAlias = name.toLowerCase().startsWith('alias.') && !value.startsWith('!');
  if (!isOwnAlias) call.runText(value.replace(/^!/, ''));
}

function evaluateRemote(call: Call, name: string, words: readonly Field[]): void {
  const options = new Options(words, {
    short: 'boucj',
    long: 'branch origin upload-pack receive-pack exec depth config reference template jobs',
  });
  const [first, target = Field.of('.')] = options.operands;
  if (name === 'clone') {
    for (const setting of options.values('c', 'config')) evaluateSetting(call, setting.exact);
    for (const code of options.values('u')) call.runAskedCode(code);
  }
  const address = options.operands.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:|^ext::/.test(shown))?.shown;
  if (address?.startsWith('ext::') === true) call.runAskedCode(Field.of(address.slice(5)));
  const isNamed = /^(?:fetch|pull|push|ls-remote)$/.test(name);
  const isUrl = /:\/\/|^ext::/.test(address ?? '');
  const remote = isUrl ? address : address && `ssh://${address.replace(':', '/')}`;
  const url = remote ?? (isNamed ? `git:${first?.shown ?? 'origin'}` : undefined);
  if (url !== undefined) call.findings.effect({ kind: 'fetch', url });
  if (name === 'clone') call.touches('write', target);
}
