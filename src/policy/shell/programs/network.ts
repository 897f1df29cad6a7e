import type { Call } from '../words/call.js';
import { Field, type Stream, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { isSecret } from '../words/place.js';
import { codesBehind, type Program, type Programs } from './program.js';
import { unwrap } from './wrappers.js';

const fetches = (host: string, more: Program = {}): Program => ({
  options: 'ciIstwWlpmQM',
  host,
  prints: 'fetched',
  evaluate: send,
  ...more,
});

/** Programs that reach other machines. */
export const NETWORK_PROGRAMS: Programs = {
  curl: {
    options:
      'AbCeEhHmPQrtuUwxXyYzDcKdFT header request user user-agent cookie proxy referer max-time connect-timeout retry resolve cacert cert key write-out range config data data-raw data-binary data-urlencode json form form-string upload-file',
    values: { o: 'save', output: 'save' },
    hosts: 'http',
    prints: 'fetched',
    evaluate(call, { given, operands }) {
      send(call);
      for (const { name, value } of given)
        if (name === 'url' && value !== undefined) call.fetches(value.exact ?? value.shown, 'http');
      if (given.some(({ name }) => name === 'O' || /^remote-name/.test(name)))
        saveByName(call, operands, Field.of('.'));
    },
  },
  'wget wget2': {
    options:
      'BtTwQUlARDIXiPe header input-file user password tries timeout user-agent directory-prefix execute post-file body-file',
    values: { O: 'save', 'output-document': 'save', o: 'overwrite', 'output-file': 'overwrite' },
    hosts: 'http',
    prints: 'fetched',
    evaluate(call, options) {
      send(call);
      if (!options.has('O', 'output-document'))
        saveByName(call, options.operands, options.value('P', 'directory-prefix') ?? Field.of('.'));
    },
  },
  'http https xh aria2c axel lynx w3m links fetch GET': fetches('http'),
  telnet: fetches('tcp'),
  'ftp lftp': fetches('ftp'),
  'ping ping6 traceroute': fetches('icmp'),
  'dig host nslookup': fetches('dns'),
  whois: fetches('whois'),
  'nc ncat netcat': fetches('tcp', {
    options: 'giopqswxXITmMGO proxy source source-port wait idle-timeout output',
    values: { e: 'command', c: 'command', exec: 'command', 'sh-exec': 'command' },
    verdicts: [['block', /^-(?:\w*[ec]|-(?:sh-|lua-)?exec)/m, 'would give a program to the other end']],
  }),
  socat: fetches('tcp', {
    verdicts: [['block', /^(?:EXEC|SYSTEM|SHELL):[^,\n]*/im, 'would give a program (%) to the other end']],
  }),
  'ssh autossh mosh': {
    options: 'bcDeFIiJLlmOpQRSWwBoE',
    leads: true,
    host: 'ssh',
    code: /^(?:-o)?(?:Proxy|Local|KnownHosts|Remote)Command[=\s]+(.*)$|^-oMatch(.*)$/is,
    evaluate: evaluateSsh,
  },
  'scp sftp rsync': {
    options: 'cFiJlPXoBTf exclude include filter files-from password-file temp-dir',
    values: { S: 'packer', e: 'packer', rsh: 'packer', 'rsync-path': 'packer' },
    evaluate: evaluateRemoteCopy,
  },
  git: {
    options: 'Cc git-dir work-tree namespace config-env',
    leads: true,
    goesByDirectory: true,
    isUntold:
      /^(?!(?:-[Cc]\n.*\n|-.*\n)*(?:status|log|diff|show|blame|grep|describe|ls-\w+|rev-\w+|cat-file|help)(?:\n|$))/,
    evaluate: evaluateGit,
  },
};

/** Data sent to another machine: files are read; what cannot be determined is `ask`. */
function send(call: Call): void {
  const { words, name, input } = call;
  if (input.kind === 'unknown' && input !== UNKNOWN) call.ask(`What ${name} sends away is not known.`);
  words.forEach((word, at) => {
    const before = words[at - 1]?.shown ?? '';
    if (!SENDS.test(word.shown) && !SENDS.test(before)) return;
    if (word.isComputed) call.ask(`What ${name} sends away is computed: ${word.shown}`);
    const file = /^-(?:T|-[\w-]+-file)$/.test(before)
      ? word.shown
      : /(?:^-T|-file=|[@<])([^;]+)/.exec(word.shown)?.[1];
    if (file === undefined) return;
    call.touches('read', Field.of(file));
    if (isSecret(file)) call.block(`${name} would send a secret away (${file}).`);
  });
}

/** Options with data to send, their value attached or not. */
const SENDS = /^-(?:\w*[dFT]|-(?:data|form|json|upload-file|post-file|body-file))/;

/** Saved under the last part of the address. Running it later is as bad as running it at once. */
function saveByName(call: Call, urls: readonly Field[], directory: Field): void {
  for (const { shown } of urls.slice(0, 16)) {
    const name = /([^/]+)$/.exec(shown.replace(/[?#].*$/s, ''))?.[1];
    if (name !== undefined) call.scope.noteWritten(Field.of(name), { kind: 'fetched', from: shown });
  }
  call.touches('write', directory);
}

/** The words are joined and read by a shell on the other machine; what breaks things there counts too. */
function evaluateSsh(call: Call, { operands: [host, ...command] }: Options): void {
  if (host === undefined) return;
  send(call);
  if (host.exact?.startsWith('-') === true) call.ask('The host that ssh connects to looks like an option.');
  if (command.length > 0) call.runCode(Field.join(command), call.scope.copy(), call.input);
}

function evaluateRemoteCopy(call: Call, options: Options): void {
  const target = options.operands.at(-1);
  const from = options.operands.find((one) => one !== target && isElsewhere(one.shown));
  for (const operand of options.operands) {
    const { shown } = operand;
    if (isElsewhere(shown)) call.fetches(shown.includes('://') ? shown : shown.replace(':', '/'), 'ssh');
    else if (operand === target) call.overwrite(operand, from && { kind: 'fetched', from: from.shown });
    else call.touches('read', operand);
    if (operand !== target && isElsewhere(target?.shown ?? '') && isSecret(shown))
      call.block(`${call.name} would send a secret away (${shown}).`);
    if (operand !== target && options.has('remove-source-files')) call.removeTree(operand);
  }
  const isDeleting = options.given.some(({ name }) => name.startsWith('delete'));
  if (isDeleting && target !== undefined && !isElsewhere(target.shown)) call.removeTree(target);
}

function isElsewhere(text: string): boolean {
  return /^(?:[^/\s]+:|\w+:\/\/)/.test(text);
}

const REACHES = /^(?:clone|fetch|pull|push|ls-remote|submodule|remote|archive|fetch-pack|send-pack)$/;

/** Options of git whose value is a command, besides those whose name says so. */
const CODE_OPTION = /^(?:-x(.*)|--[\w-]+-filter|--open-files-in-pager=(.*)|-O(.+))$/s;

/** Settings of git with hooks, aliases and programs: a command if the value is more than a name. */
const SETTING =
  /^(?:(?:-c\n|config\n(?:-.*\n)*)(?:alias\.|core\.|diff\.|pager\.|filter\.|credential\.|sequence\.).*?(?:=|\n))(.*[ !/].*)$/m;

function evaluateGit(call: Call, options: Options): Stream {
  const [command, ...rest] = options.operands;
  const name = command?.shown ?? '';
  const setting = SETTING.exec(call.shown)?.[1];
  if (setting !== undefined) call.runAskedCode(Field.of(setting.replace(/^!/, '')));
  const reaches = REACHES.test(name);
  const option = /^(?:rebase|grep|difftool|filter-branch)$/.test(name) ? CODE_OPTION : undefined;
  const code = reaches ? (name === 'clone' ? /^(?:-u(.*)|ext::(.*))$/s : /^ext::(.*)$/s) : option;
  if (code !== undefined) for (const one of codesBehind(rest, code)) call.runAskedCode(one);
  if (reaches) evaluateRemote(call, name, rest);
  if (name === 'bundle' || name === 'apply')
    for (const word of rest) if (!word.shown.startsWith('-')) call.touches('read', word);
  return unwrap(call, options, { behind: /^(?:.*\n)*?(?:bisect\nrun|submodule\n(?:.*\n)*?foreach)\n/ });
}

function evaluateRemote(call: Call, name: string, words: readonly Field[]): void {
  const options = new Options(words, { options: 'boucj branch origin depth config reference template jobs' });
  const [first, target = Field.of('.')] = options.operands;
  const address = options.operands.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:/.test(shown))?.shown;
  const isNamed = /^(?:fetch|pull|push|ls-remote)$/.test(name);
  const remote = address?.includes('://') ? address : address && `ssh://${address.replace(':', '/')}`;
  const url = remote ?? (isNamed ? `git:${first?.shown ?? 'origin'}` : undefined);
  if (url !== undefined) call.findings.effect({ kind: 'fetch', url });
  if (name === 'clone') call.touches('write', target);
}
