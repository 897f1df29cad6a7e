import type { Call } from '../words/call.js';
import { Field, type Stream } from '../words/field.js';
import { Options } from '../words/options.js';
import { secretIn } from '../words/place.js';
import { codesBehind, type Evaluators, type Program, writesBehind } from './program.js';
import { unwrap } from './wrappers.js';

/** Programs that reach other machines. */
export const NETWORK_PROGRAMS: Evaluators = {
  curl(call, { given, operands }) {
    for (const { name, value } of given)
      if (name === 'url' && value !== undefined) call.fetches(value.exact ?? value.shown, 'http');
    const byName = given.find(({ name }) => name === 'O' || /^remote-name/.test(name));
    if (byName !== undefined) saveByName(call, operands, Field.of('.'));
  },
  'wget wget2'(call, options) {
    if (options.has('O', 'output-document')) return;
    saveByName(call, options.operands, options.value('P', 'directory-prefix') ?? Field.of('.'));
  },
  'nc ncat netcat'(call, { operands: [host, port] }) {
    if (host !== undefined) call.fetches([host.shown, port?.shown ?? []].flat().join(':'), 'tcp');
  },
  socat(call) {
    for (const { shown } of call.words) {
      const host = /^(?:TCP|TCP4|TCP6|UDP|OPENSSL|SSL)(?:-CONNECT)?:([^,]+)/i.exec(shown)?.[1];
      if (host !== undefined) call.fetches(host, 'tcp');
    }
  },
  'ssh autossh mosh': evaluateSsh,
  'scp sftp rsync': evaluateRemoteCopy,
  git: evaluateGit,
};

/** Saved under the name that ends the address: to run it later is as bad as to run it at once. */
function saveByName(call: Call, urls: readonly Field[], directory: Field): void {
  for (const { shown } of urls.slice(0, 16)) {
    const name = /([^/]+)$/.exec(shown.replace(/[?#].*$/s, ''))?.[1];
    if (name !== undefined) call.scope.noteWritten(Field.of(name), { kind: 'fetched', from: shown });
  }
  call.touches('write', directory);
}

/** The words are joined, and read by a shell at the other end: what breaks things there counts too. */
function evaluateSsh(call: Call, { operands: [host, ...command] }: Options): void {
  if (host === undefined) return;
  if (host.exact?.startsWith('-') === true) call.ask('The host that ssh connects to looks like an option.');
  if (command.length > 0) call.runCode(Field.join(command), call.scope.copy(), call.input);
}

function evaluateRemoteCopy(call: Call, options: Options): void {
  const target = options.operands.at(-1);
  const sources = options.operands.slice(0, -1);
  const from = sources.find((source) => isElsewhere(source.shown));
  for (const operand of options.operands) {
    const { shown } = operand;
    if (isElsewhere(shown)) call.fetches(shown.includes('://') ? shown : shown.replace(':', '/'), 'ssh');
    else if (operand === target) call.overwrite(operand, from && { kind: 'fetched', from: from.shown });
    else call.touches('read', operand);
  }
  const isSent = target !== undefined && isElsewhere(target.shown);
  for (const source of sources) {
    if (isSent) call.send(secretIn(source, call.scope.directory));
    if (options.has('remove-source-files')) call.removeTree(source);
  }
  const isDeleting = options.given.some(({ name }) => name.startsWith('delete'));
  if (isDeleting && target !== undefined && !isSent) call.removeTree(target);
}

function isElsewhere(text: string): boolean {
  return /^(?:[^/\s]+:|\w+:\/\/)/.test(text);
}

/** Settings of git whose value is run, where that is more than the name of a usual program. */
const RUN_SETTING =
  /^(?:-c|--config=)?(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile|worktree)|pager\..*|.*\.(?:cmd|path|textconv|command|clean|smudge|process|driver|helper|program|uploadpack|receivepack|vcs|proxy)|diff\.external|sequence\.editor|protocol\..*\.?allow|uploadpack\..*|init\.templatedir|includeif\..*|submodule\..*\.update|interactive\.difffilter|web\.browser|sendemail\..*)(?:=|\n)(?!(?:cat|less|more|vim?|nano|true|false|always|never|user|store|cache)?(?:\n|$))/im;

/** Options of subcommands whose value is a command. */
const CODE_OPTION =
  /^(?:-x(.*)|(?:--exec|--extcmd|--open[a-z-]*|--(?:upload|receive)-pack|--[\w-]+-filter|--(?:smtp-server|sendmail-cmd|to-cmd|cc-cmd|header-cmd|httpd|browser))(?:=(.*))?|-O(.+))$/s;

const TAKES_COMMAND =
  /^(?:rebase|difftool|grep|filter-branch|archive|clone|(?:fetch|send)-pack|fetch|pull|push|ls-remote|send-email|instaweb|web--browse)$/;

const REACHES = /^(?:clone|fetch|pull|push|ls-remote|submodule|remote|archive|fetch-pack|send-pack)$/;

function evaluateGit(call: Call, options: Options, program: Program): Stream {
  const { words, shown } = call;
  const [command, ...rest] = options.operands;
  const name = command?.shown ?? '';
  if (words.slice(0, words.length - rest.length).some(({ exact }) => exact === undefined))
    call.ask('The options of git are computed.');
  const setting = RUN_SETTING.exec(shown)?.[0];
  if (setting !== undefined) call.ask(`git runs what is set: ${setting}`);
  if (/^(?:format-patch|archive)$/.test(name)) writesBehind(call, rest, /^-o(.*)$/s);
  if (TAKES_COMMAND.test(name)) for (const code of codesBehind(rest, CODE_OPTION)) call.runAskedCode(code);
  if (REACHES.test(name)) evaluateRemote(call, name, rest);
  if (name === 'bundle' || name === 'apply')
    for (const word of rest) if (!word.shown.startsWith('-')) call.touches('read', word);
  return unwrap(call, options, program);
}

function evaluateRemote(call: Call, name: string, words: readonly Field[]): void {
  const options = new Options(words, {
    short: 'boucj',
    long: 'branch origin upload-pack receive-pack exec depth config reference template jobs',
  });
  const [first, target = Field.of('.')] = options.operands;
  const address = options.operands.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:|^ext::/.test(shown))?.shown;
  if (address?.startsWith('ext::') === true) call.runAskedCode(Field.of(address.slice(5)));
  const isNamed = /^(?:fetch|pull|push|ls-remote)$/.test(name);
  const isUrl = /:\/\/|^ext::/.test(address ?? '');
  const remote = isUrl ? address : address && `ssh://${address.replace(':', '/')}`;
  const url = remote ?? (isNamed ? `git:${first?.shown ?? 'origin'}` : undefined);
  if (url !== undefined) call.findings.effect({ kind: 'fetch', url });
  if (name !== 'clone') return;
  if (options.values('c', 'config').some(({ exact }) => exact === undefined))
    call.ask('A setting of git is computed.');
  for (const code of options.values('u')) call.runAskedCode(code);
  call.touches('write', target);
}
