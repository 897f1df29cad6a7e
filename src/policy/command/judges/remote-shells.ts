import { exactText, type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect } from '../report-effects.js';
import { readsSecret } from '../secret-file.js';
import type { Invocation, Judge } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { judgeOverwrite } from './disks.js';
import { fetches, judgeSent, toUrl } from './leaving.js';
import { judgeRemoval } from './removal.js';
import { runCodeWord } from './run-payload.js';

const SSH_VALUES = { short: 'bcDeEFIiJLlmOopQRSWwB', stopsAtOperand: true };

export const judgeSsh: Judge = (call) => {
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

export const judgeRemoteCopy: Judge = (call) => {
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
