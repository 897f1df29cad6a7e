import type { Call } from '../words/call.js';
import { secretIn } from '../words/danger.js';
import { Field } from '../words/field.js';
import type { Options } from '../words/options.js';
import { codesBehind, type Evaluators } from './program.js';

/** Programs that reach other machines. */
export const NETWORK_PROGRAMS: Evaluators = {
  curl(call, { given, operands }) {
    for (const { name, value } of given)
      if (name === 'url' && value !== undefined) call.fetches(value.exact ?? value.shown, 'http');
    const byName = given.find(({ name }) => name === 'O' || /^remote-name/.test(name));
    if (byName !== undefined)
      call.findings.byOption(byName.word.shown, () => saveByName(call, operands, Field.of('.')));
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
