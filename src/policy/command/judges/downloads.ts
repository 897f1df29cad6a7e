import { exactText, type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect, writeEffect } from '../report-effects.js';
import { readsSecret } from '../secret-file.js';
import type { Invocation, Judge } from '../shell.js';
import { noteWritten } from '../written-files.js';
import { judgeOverwrite } from './disks.js';
import { fetches, hiddenSecret, judgeSent, toUrl } from './leaving.js';

export const judgeCurl: Judge = (call) => {
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

export const judgeWget: Judge = (call) => {
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
