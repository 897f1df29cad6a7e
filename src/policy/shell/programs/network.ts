import type { Call } from '../words/call.js';
import { secretIn } from '../words/danger.js';
import { Field } from '../words/field.js';
import type { Options } from '../words/options.js';
import { codesBehind, type Program, type Programs } from './program.js';

const contacts = (scheme: string): Program => ({
  short: 'ciIstwWlpmQM',
  host: { scheme },
  prints: 'fetched',
});

/** Programs that reach other machines. */
export const NETWORK_PROGRAMS: Programs = {
  curl: {
    short: 'AbCeEhHmPQrtuUwxXyYz',
    long: 'data-raw form-string header request user user-agent cookie proxy referer max-time'
      .concat(
        ' connect-timeout retry resolve connect-to interface cacert cert key write-out range limit-rate',
      )
      .concat(' unix-socket retry-delay proto tls-max dns-servers url config'),
    host: { scheme: 'http', all: true },
    options: {
      'o output': 'save',
      'D dump-header c cookie-jar trace trace-ascii libcurl stderr etag-save hsts alt-svc output-dir':
        'overwrite',
      'T upload-file': 'upload',
      'd data data-binary data-ascii data-urlencode F form json': 'body',
      K: 'skip',
    },
    when: [['ask', /^-(?:-config|\w*K)/m, 'takes its options from a file']],
    prints: 'fetched',
    also(call, { given, operands }) {
      for (const { name, value } of given)
        if (name === 'url' && value !== undefined) call.fetches(value.exact ?? value.shown, 'http');
      const byName = given.find(({ name }) => name === 'O' || /^remote-name/.test(name));
      if (byName !== undefined)
        call.findings.byOption(byName.word.shown, () => saveByName(call, operands, Field.of('.')));
    },
  },
  'wget wget2': {
    short: 'BtTwQUlARDIXi',
    long: 'header input-file user password tries timeout user-agent',
    host: { scheme: 'http', all: true },
    options: {
      'O output-document': 'save',
      'o output-file a append-output save-cookies warc-file rejected-log hsts-file': 'overwrite',
      'post-file body-file': 'upload',
      'post-data body-data P directory-prefix e execute use-askpass': 'skip',
    },
    prints: 'fetched',
    also(call, options) {
      if (options.has('e', 'execute', 'use-askpass'))
        call.ask('wget takes a setting or a program from its options.');
      if (options.has('O', 'output-document')) return;
      saveByName(call, options.operands, options.value('P', 'directory-prefix') ?? Field.of('.'));
    },
  },
  'http https xh aria2c axel lynx w3m links fetch GET': contacts('http'),
  telnet: contacts('tcp'),
  'ftp lftp': contacts('ftp'),
  tftp: contacts('tftp'),
  'ping ping6 traceroute': contacts('icmp'),
  'dig host nslookup': contacts('dns'),
  whois: contacts('whois'),
  'nc ncat netcat': {
    short: 'giopqswxXITmMGO',
    long: 'proxy source source-port wait idle-timeout output',
    options: { 'e c exec sh-exec lua-exec': 'skip' },
    sends: true,
    prints: 'fetched',
    also(call, options) {
      const code = options.value('e', 'c', 'exec', 'sh-exec', 'lua-exec');
      if (code !== undefined)
        call.block(`${call.name} would give a program (${code.shown}) to the other end.`);
      const [host, port] = options.operands;
      if (host !== undefined) call.fetches([host.shown, port?.shown ?? []].flat().join(':'), 'tcp');
    },
  },
  socat: {
    sends: true,
    when: [['block', /^(?:EXEC|SYSTEM|SHELL):[^,\n]*/im, 'would give a program (%) to the other end']],
    prints: 'fetched',
    also(call) {
      for (const { shown } of call.words) {
        const host = /^(?:TCP|TCP4|TCP6|UDP|OPENSSL|SSL)(?:-CONNECT)?:([^,]+)/i.exec(shown)?.[1];
        if (host !== undefined) call.fetches(host, 'tcp');
      }
    },
  },
  'ssh autossh mosh': {
    short: 'bcDeFIiJLlmOopQRSWwB',
    options: { E: 'overwrite' },
    leads: true,
    host: { scheme: 'ssh' },
    sends: true,
    also: evaluateSsh,
  },
  'scp sftp': { short: 'cFiJloPSX', also: evaluateRemoteCopy },
  rsync: {
    short: 'eBTf',
    long: 'rsh rsync-path exclude include filter files-from password-file temp-dir',
    options: { 'log-file write-batch only-write-batch': 'overwrite', 'backup-dir': 'write' },
    also: evaluateRemoteCopy,
  },
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
function evaluateSsh(call: Call, { given, operands: [host, ...command] }: Options): void {
  for (const { name, value } of given) {
    if (name !== 'o' || value === undefined) continue;
    for (const code of codesBehind([value], RUNS_COMMAND)) call.runAskedCode(code);
  }
  if (host === undefined) return;
  if (host.exact?.startsWith('-') === true) call.ask('The host that ssh connects to looks like an option.');
  if (command.length > 0) call.runCode(Field.join(command), call.scope.copy(), call.input);
}

const RUNS_COMMAND = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|Match)[=\s]+(.*)$/is;

function evaluateRemoteCopy(call: Call, options: Options): void {
  for (const { name, value } of options.given) {
    const isCode =
      /^(?:e|rsh|rsync-path|S)$/.test(name) || (name === 'o' && /command/i.test(value?.shown ?? ''));
    if (!isCode || value === undefined || /^(?:ssh|rsync)(?: -[\w=./~ -]*)?$/.test(value.shown)) continue;
    call.runAskedCode(Field.of(value.shown.replace(/^\w+=/, ''), value.literal));
  }
  const target = options.operands.at(-1);
  const sources = options.operands.slice(0, -1);
  const from = sources.find((source) => isElsewhere(source.shown));
  for (const operand of options.operands) {
    const { shown } = operand;
    if (isElsewhere(shown)) call.fetches(shown.includes('://') ? shown : shown.replace(':', '/'), 'ssh');
    else if (operand === target)
      call.overwrite(operand, from === undefined ? 'there' : { kind: 'fetched', from: from.shown });
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
