import { exactText, type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect, writeEffect } from '../report-effects.js';
import { readsSecret } from '../secret-file.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { INHERITED, NOTHING, type Stream, UNKNOWN } from '../stream.js';
import { noteWritten } from '../written-files.js';
import { judgeOverwrite } from './disks.js';
import { judgeRemoval } from './removal.js';
import { runCodeWord, runRest } from './run-payload.js';

function toUrl(text: string, scheme: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`;
}

function fetches({ findings }: Invocation, url: string): void {
  findings.effect({ kind: 'fetch', url });
}

const CURL_VALUES = {
  short: 'AbcCdDeEFhHKmoPQrtTuUwxXyYz',
  long: [
    'data',
    'data-ascii',
    'data-binary',
    'data-raw',
    'data-urlencode',
    'json',
    'form',
    'form-string',
    'header',
    'output',
    'output-dir',
    'request',
    'user',
    'user-agent',
    'url',
    'upload-file',
    'cookie',
    'cookie-jar',
    'config',
    'proxy',
    'referer',
    'max-time',
    'connect-timeout',
    'retry',
    'resolve',
    'connect-to',
    'interface',
    'cacert',
    'cert',
    'key',
    'write-out',
    'range',
    'limit-rate',
    'dump-header',
    'unix-socket',
    'retry-delay',
    'proto',
    'tls-max',
    'dns-servers',
  ],
};

const judgeCurl: Judge = (call) => {
  const options = readOptions(call.words, CURL_VALUES);
  const urls = [...options.operands, ...valuesOf(options, 'url')];
  for (const url of urls) fetches(call, toUrl(exactText(url) ?? url.shown, 'http'));
  for (const file of [...valuesOf(options, 'o'), ...valuesOf(options, 'output')])
    if (file.shown !== '-') save(call, file, urls[0]);
  if (options.has('O', 'remote-name')) noteNamed(call, urls);
  if (options.has('O', 'remote-name')) writeEffect(call.findings, literalField('.'), call.scope);
  for (const config of [...valuesOf(options, 'K'), ...valuesOf(options, 'config')]) {
    call.findings.ask(`curl takes its options from ${config.shown}.`);
  }
  judgeUpload(call, options);
  return { kind: 'fetched', from: urls[0]?.shown ?? 'curl' };
};

/** A file from the network: to run it later is as bad as to run it at once. */
function save(call: Invocation, file: Field, url: Field | undefined): void {
  judgeOverwrite(call, file);
  noteWritten(file, call.scope, { kind: 'fetched', from: url?.shown ?? call.name });
}

/** Saved under the name that ends the address. */
function noteNamed({ scope }: Invocation, urls: readonly Field[]): void {
  for (const { shown } of urls.slice(0, 16)) {
    const name =
      shown
        .replace(/[?#].*$/s, '')
        .split('/')
        .at(-1) ?? '';
    if (name !== '') noteWritten(literalField(name), scope, { kind: 'fetched', from: shown });
  }
}

type Options = ReturnType<typeof readOptions>;

function valuesOf({ options }: Options, name: string): Field[] {
  return options.flatMap((option) =>
    option.name === name && option.value !== undefined ? [option.value] : [],
  );
}

/** Secrets that leave the machine. */
function judgeUpload(call: Invocation, options: Options): void {
  const uploads = ['T', 'upload-file'].flatMap((name) => valuesOf(options, name).map(({ shown }) => shown));
  const bodies = [
    'd',
    'data',
    'data-binary',
    'data-ascii',
    'data-urlencode',
    'F',
    'form',
    'json',
    'post-file',
    'body-file',
  ].flatMap((name) =>
    valuesOf(options, name).map(({ shown }) => (name.endsWith('-file') ? `@${shown}` : shown)),
  );
  const files = [...uploads, ...bodies.flatMap((body) => /[@<]([^;@]+)/.exec(body)?.slice(1, 2) ?? [])];
  for (const file of files) {
    if (file === '-' || file === '.') {
      judgeSent(call, call.input);
      continue;
    }
    const field = literalField(file.replace(/^~(?=\/)/, '/home/~').replace(/^\$HOME|^\$\{HOME\}/, '/home/~'));
    readEffect(call.findings, field, call.scope);
    judgeSent(call, readsSecret(field, call.scope));
  }
  for (const { value } of options.options)
    judgeSent(call, value === undefined ? undefined : hiddenSecret(value));
  for (const operand of options.operands) judgeSent(call, hiddenSecret(operand));
}

function hiddenSecret(word: Field): Stream | undefined {
  for (const piece of word.pieces)
    if (piece.kind === 'unknown' && piece.from?.kind === 'secret') return piece.from;
  return undefined;
}

function judgeSent({ findings, name }: Invocation, stream: Stream | undefined): void {
  if (stream?.kind === 'secret') findings.block(`${name} would send a secret away (${stream.path}).`);
  if (stream?.kind === 'shell') findings.block(`${name} would give a shell to whoever is connected.`);
}

const judgeWget: Judge = (call) => {
  const options = readOptions(call.words, {
    short: 'oOaBtTwQPUlARDIXie',
    long: [
      'output-document',
      'output-file',
      'post-data',
      'post-file',
      'body-file',
      'header',
      'directory-prefix',
      'input-file',
      'user',
      'password',
      'tries',
      'timeout',
      'execute',
      'use-askpass',
      'user-agent',
    ],
  });
  for (const url of options.operands) fetches(call, toUrl(exactText(url) ?? url.shown, 'http'));
  const target = options.value('O', 'output-document');
  if (target !== undefined && target.shown !== '-') save(call, target, options.operands[0]);
  if (target === undefined) noteNamed(call, options.operands);
  if (target === undefined)
    writeEffect(call.findings, options.value('P', 'directory-prefix') ?? literalField('.'), call.scope);
  if (options.has('e', 'execute', 'use-askpass'))
    call.findings.ask('wget takes a setting or a program from its options.');
  judgeUpload(call, options);
  return { kind: 'fetched', from: options.operands[0]?.shown ?? 'wget' };
};

/** A listener or a connection; with a program at the other end, it is a door for strangers. */
const judgeNetcat: Judge = (call) => {
  const options = readOptions(call.words, {
    short: 'ecgiopqswxXITmMGO',
    long: ['exec', 'sh-exec', 'lua-exec', 'proxy', 'source', 'source-port', 'wait', 'idle-timeout', 'output'],
  });
  const code = options.value('e', 'c', 'exec', 'sh-exec', 'lua-exec');
  if (
    code !== undefined &&
    /^-\w*[ec]|^--(?:sh-|lua-)?exec/.test(
      call.words.find(({ shown }) => /^-\w*[ec]|exec/.test(shown))?.shown ?? '',
    )
  ) {
    call.findings.block(`${call.name} would give a program (${code.shown}) to whoever is connected.`);
  }
  const [host, port] = options.operands;
  if (host !== undefined) fetches(call, `tcp://${host.shown}${port === undefined ? '' : `:${port.shown}`}`);
  judgeSent(call, call.input);
  return { kind: 'fetched', from: host?.shown ?? call.name };
};

const judgeSocat: Judge = (call) => {
  for (const { shown } of call.words) {
    const code = /^(?:EXEC|SYSTEM|SHELL):(.*?)(?:,|$)/is.exec(shown)?.[1];
    if (code !== undefined) {
      call.findings.block(`socat would give a program (${code}) to whoever is connected.`);
      call.shell.runText(code, call.scope.copy(), INHERITED);
    }
    const host = /^(?:TCP|TCP4|TCP6|UDP|OPENSSL|SSL)(?:-CONNECT)?:([^,]+)/i.exec(shown)?.[1];
    if (host !== undefined) fetches(call, `tcp://${host}`);
  }
  judgeSent(call, call.input);
  return { kind: 'fetched', from: 'socat' };
};

const SSH_VALUES = { short: 'bcDeEFIiJLlmOopQRSWwB', stopsAtOperand: true };

const judgeSsh: Judge = (call) => {
  const options = readOptions(call.words, SSH_VALUES);
  for (const { name, value } of options.options) {
    const command =
      /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|Match)[=\s]+(.*)$/is.exec(
        value?.shown ?? '',
      )?.[1];
    if (name !== 'o' || command === undefined) continue;
    call.findings.ask(`ssh runs a command: ${command}`);
    call.shell.runText(command, call.scope.copy(), INHERITED);
  }
  const [host, ...command] = options.operands;
  if (host === undefined) return UNKNOWN;
  if (exactText(host)?.startsWith('-') === true)
    call.findings.ask('The host that ssh connects to looks like an option.');
  fetches(call, toUrl(host.shown, 'ssh'));
  judgeSent(call, call.input);
  if (command.length > 0) runRemote(call, command);
  return UNKNOWN;
};

/** The words are joined, and read by a shell at the other end: what breaks things there counts too. */
function runRemote(call: Invocation, words: readonly Field[]): void {
  const pieces = words.flatMap((word, index) => [
    ...(index === 0 ? [] : literalField(' ').pieces),
    ...word.pieces,
  ]);
  const joined = {
    pieces,
    shown: words.map(({ shown }) => shown).join(' '),
    literal: words.every(({ literal }) => literal),
  };
  runCodeWord(call, joined, call.scope.copy(), call.input);
}

const judgeRemoteCopy: Judge = (call) => {
  const options = readOptions(
    call.words,
    call.name === 'rsync'
      ? {
          short: 'eBTf',
          long: [
            'rsh',
            'rsync-path',
            'exclude',
            'include',
            'filter',
            'files-from',
            'log-file',
            'password-file',
            'temp-dir',
          ],
        }
      : { short: 'cFiJloPSX' },
  );
  for (const { name, value } of options.options) {
    const isCode =
      /^(?:e|rsh|rsync-path|S)$/.test(name) || (name === 'o' && /command/i.test(value?.shown ?? ''));
    if (!isCode || value === undefined || /^(?:ssh|rsync)(?: -[\w=./~ -]*)?$/.test(value.shown)) continue;
    call.findings.ask(`${call.name} runs a command: ${value.shown}`);
    call.shell.runText(value.shown.replace(/^\w+=/, ''), call.scope.copy(), INHERITED);
  }
  const target = options.operands.at(-1);
  for (const operand of options.operands) judgeEnd(call, operand, operand === target);
  const isRemote = target !== undefined && isElsewhere(target.shown);
  if (isRemote)
    for (const source of options.operands.slice(0, -1)) judgeSent(call, readsSecret(source, call.scope));
  if (options.options.some(({ name }) => name.startsWith('delete')) && target !== undefined && !isRemote)
    judgeRemoval(call, target);
  if (options.has('remove-source-files'))
    for (const source of options.operands.slice(0, -1)) judgeRemoval(call, source);
  return UNKNOWN;
};

function isElsewhere(text: string): boolean {
  return /^(?:[^/\s]+:|\w+:\/\/)/.test(text);
}

function judgeEnd(call: Invocation, operand: Field, isTarget: boolean): void {
  const { shown } = operand;
  if (isElsewhere(shown)) fetches(call, shown.includes('://') ? shown : `ssh://${shown.replace(':', '/')}`);
  else if (isTarget) judgeOverwrite(call, operand);
  else readEffect(call.findings, operand, call.scope);
}

const contacts =
  (scheme: string): Judge =>
  (call) => {
    const [host] = readOptions(call.words, { short: 'ciIstwWlpmQM' }).operands;
    if (host !== undefined) fetches(call, toUrl(host.shown, scheme));
    return { kind: 'fetched', from: host?.shown ?? call.name };
  };

export const NETWORK_JUDGES: Judges = {
  curl: judgeCurl,
  wget: judgeWget,
  wget2: judgeWget,
  http: contacts('http'),
  https: contacts('https'),
  xh: contacts('http'),
  aria2c: contacts('http'),
  axel: contacts('http'),
  lynx: contacts('http'),
  w3m: contacts('http'),
  links: contacts('http'),
  fetch: contacts('http'),
  GET: contacts('http'),
  nc: judgeNetcat,
  ncat: judgeNetcat,
  netcat: judgeNetcat,
  socat: judgeSocat,
  telnet: contacts('tcp'),
  ftp: contacts('ftp'),
  tftp: contacts('tftp'),
  lftp: contacts('ftp'),
  ping: contacts('icmp'),
  ping6: contacts('icmp'),
  traceroute: contacts('icmp'),
  dig: contacts('dns'),
  host: contacts('dns'),
  nslookup: contacts('dns'),
  whois: contacts('whois'),
  ssh: judgeSsh,
  autossh: judgeSsh,
  mosh: judgeSsh,
  scp: judgeRemoteCopy,
  sftp: judgeRemoteCopy,
  rsync: judgeRemoteCopy,
  sshpass: (call) => {
    const at = call.words.findIndex(
      (word, index) => !word.shown.startsWith('-') && !/^-[pfdP]$/.test(call.words[index - 1]?.shown ?? ''),
    );
    return at === -1 ? NOTHING : runRest(call, call.words.slice(at));
  },
};
