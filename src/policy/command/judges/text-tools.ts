import { Buffer } from 'node:buffer';
import { exactText, type Field, sourceOf } from '../field.js';
import { judgeTree } from '../judge-place.js';
import { rootPath } from '../place.js';
import { readOptions } from '../read-options.js';
import { readEffect } from '../report-effects.js';
import { readsSecret } from '../secret-file.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { joinStreams, NOTHING, NUMBER, type Stream, textStream, UNKNOWN } from '../stream.js';
import { unescapeText } from './printf-text.js';

/** Programs whose output can be told: what hides a command behind `base64 -d` or `rev` is seen through. */
const judgeEcho: Judge = ({ words }) => {
  const texts = words.map(exactText);
  let at = 0;
  let escapes = false;
  while (/^-[neE]+$/.test(texts[at] ?? '')) {
    escapes = texts[at]?.includes('e') === true;
    at++;
  }
  const rest = texts.slice(at);
  if (!rest.every((text) => text !== undefined))
    return words.map(sourceOf).find((one) => one !== undefined) ?? UNKNOWN;
  const text = `${rest.join(' ')}\n`;
  const output = textStream(escapes ? unescapeText(text) : text);
  // Some shells take backslashes for escapes here, others do not.
  const literal = words.every((word) => word.literal) && !text.includes('\\');
  return output.kind === 'text' ? { ...output, literal } : output;
};

/** Files one after the other, or what stands on the input. */
const judgeCat: Judge = (call) => {
  const { operands: files } = readOptions(call.words);
  if (files.length === 0) return call.words.length === 0 ? call.input : through(call.input);
  return files.reduce<Stream>((output, file) => {
    if (file.shown === '-') return joinStreams(output, call.input);
    readEffect(call.findings, file, call.scope);
    return joinStreams(output, sourceOf(file) ?? readsSecret(file, call.scope) ?? UNKNOWN);
  }, NOTHING);
};

/** Part of what came in: of the same origin, but not known any more. */
function through(input: Stream): Stream {
  return input.kind === 'text' && input.text !== '' ? UNKNOWN : input;
}

function decodes(call: Invocation, change: (text: string) => string | undefined): Stream {
  const { operands } = readOptions(call.words, { short: 'wisclSE' });
  for (const file of operands) readEffect(call.findings, file, call.scope);
  if (operands.length > 0 && operands[0]?.shown !== '-') return UNKNOWN;
  if (call.input.kind !== 'text') return through(call.input);
  const text = change(call.input.text);
  return text === undefined ? UNKNOWN : textStream(text);
}

const judgeBase64: Judge = (call) =>
  decodes(call, (text) => {
    const { has } = readOptions(call.words, { short: 'wbio' });
    const cleaned = text.replaceAll(/\s/g, '');
    if (has('d', 'D', 'decode')) return fromBytes(Buffer.from(cleaned, 'base64'));
    return `${Buffer.from(text, 'utf8').toString('base64')}\n`;
  });

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const judgeBase32: Judge = (call) =>
  decodes(call, (text) => {
    if (!readOptions(call.words).has('d', 'decode')) return undefined;
    const bytes: number[] = [];
    let bits = 0;
    let held = 0;
    for (const character of text.replaceAll(/[\s=]/g, '')) {
      held = ((held << 5) | Math.max(0, BASE32.indexOf(character))) & 0xffff;
      bits += 5;
      if (bits < 8) continue;
      bits -= 8;
      bytes.push((held >> bits) & 0xff);
    }
    return fromBytes(Buffer.from(bytes));
  });

const judgeXxd: Judge = (call) =>
  decodes({ ...call, words: call.words.filter(({ shown }) => shown.startsWith('-')) }, (text) => {
    if (!call.words.some(({ shown }) => /^-\w*r/.test(shown))) return undefined;
    return fromBytes(Buffer.from(text.replaceAll(/[^0-9a-fA-F]/g, ''), 'hex'));
  });

function fromBytes(bytes: Buffer): string {
  return bytes.toString('utf8');
}

const judgeRev: Judge = (call) =>
  decodes(call, (text) =>
    text
      .split('\n')
      .map((line) => [...line].reverse().join(''))
      .join('\n'),
  );

const judgeTac: Judge = (call) =>
  decodes(call, (text) => `${text.replace(/\n$/, '').split('\n').reverse().join('\n')}\n`);

const judgeTr: Judge = ({ words, input }) => {
  if (input.kind !== 'text') return through(input);
  const { operands, has } = readOptions(words);
  const [from, to] = operands.map((word) => charactersOf(exactText(word)));
  if (from === undefined || has('c', 'C', 'complement', 's')) return UNKNOWN;
  if (has('d', 'delete')) return textStream([...input.text].filter((one) => !from.includes(one)).join(''));
  if (to === undefined || to.length === 0) return UNKNOWN;
  const last = to.at(-1) ?? '';
  const map = new Map(from.map((one, index) => [one, to[index] ?? last]));
  return textStream([...input.text].map((one) => map.get(one) ?? one).join(''));
};

function charactersOf(text: string | undefined): string[] | undefined {
  if (text === undefined || text.length > 512) return undefined;
  const named = text
    .replaceAll('[:lower:]', 'a-z')
    .replaceAll('[:upper:]', 'A-Z')
    .replaceAll('[:digit:]', '0-9')
    .replaceAll('[:space:]', ' \\t\\n');
  if (named.includes('[:')) return undefined;
  const characters = [...unescapeText(named)];
  const list: string[] = [];
  for (let at = 0; at < characters.length; at++) {
    const end = characters[at + 2];
    if (characters[at + 1] !== '-' || end === undefined) {
      list.push(characters[at] ?? '');
      continue;
    }
    const [from, to] = [characters[at]?.codePointAt(0) ?? 0, end.codePointAt(0) ?? 0];
    for (let code = from; code <= Math.min(to, from + 255); code++) list.push(String.fromCodePoint(code));
    at += 2;
  }
  return list;
}

/** `cut`, `sort`, `grep`, …: read the files they name, or what comes in. */
export const judgeFilter: Judge = (call) => {
  const { operands } = readOptions(call.words, FILTER_OPTIONS[call.name] ?? {});
  const skipped =
    PATTERN_FIRST.has(call.name) && !call.words.some(({ shown }) => /^-[ef]/.test(shown)) ? 1 : 0;
  const files = operands.slice(skipped);
  for (const file of files) readEffect(call.findings, file, call.scope);
  if (files.length === 0) return through(call.input);
  return files.map((file) => readsSecret(file, call.scope)).find((one) => one !== undefined) ?? UNKNOWN;
};

const PATTERN_FIRST = new Set(['grep', 'egrep', 'fgrep', 'rg', 'zgrep', 'jq', 'ag', 'ack']);

const FILTER_OPTIONS: Readonly<Record<string, { short?: string; long?: readonly string[] }>> = {
  head: { short: 'nc', long: ['lines', 'bytes'] },
  tail: { short: 'ncs', long: ['lines', 'bytes', 'pid'] },
  grep: { short: 'efmABCdD', long: ['regexp', 'file', 'max-count', 'context'] },
  egrep: { short: 'efmABC' },
  fgrep: { short: 'efmABC' },
  rg: { short: 'efgtTmABCjMrE', long: ['glob', 'type', 'max-count', 'context'] },
  sort: { short: 'kStT', long: ['key', 'field-separator', 'buffer-size'] },
  uniq: { short: 'fsw' },
  cut: { short: 'bcdf', long: ['delimiter', 'fields'] },
  fold: { short: 'w' },
  nl: { short: 'bdfhilnsvw' },
  jq: { short: 'fL', long: ['arg', 'argjson', 'indent'] },
  od: { short: 'AjNStw' },
  hexdump: { short: 'enfs' },
  strings: { short: 'nt' },
};

const printsNumber: Judge = (call) => {
  const { operands } = readOptions(call.words);
  if (call.name === 'wc') for (const file of operands) readEffect(call.findings, file, call.scope);
  const alone = call.name !== 'wc' || operands.length === 0;
  return alone ? NUMBER : UNKNOWN;
};

const judgeYes: Judge = ({ words }) => {
  const text = words.map(exactText).join(' ');
  return words.length === 0 ? textStream('y\n') : textStream(`${text}\n`);
};

/** `sort -o`, `--compress-program` aside, filters write nothing. */
const FILTERS = [
  'head',
  'tail',
  'grep',
  'egrep',
  'fgrep',
  'rg',
  'zgrep',
  'sort',
  'uniq',
  'cut',
  'fold',
  'nl',
  'paste',
  'comm',
  'diff',
  'cmp',
  'wdiff',
  'column',
  'expand',
  'unexpand',
  'iconv',
  'od',
  'hexdump',
  'strings',
  'file',
  'stat',
  'md5sum',
  'sha1sum',
  'sha256sum',
  'sha512sum',
  'cksum',
  'sum',
  'jq',
  'zcat',
  'bzcat',
  'xzcat',
  'gunzip',
  'gzip',
  'bzip2',
  'bunzip2',
  'xz',
  'unxz',
  'zstd',
  'ls',
  'dir',
  'du',
  'tree',
  'wc',
  'realpath',
  'readlink',
];

const judgeLs: Judge = (call) => {
  const { operands } = readOptions(call.words, { short: 'wIT' });
  const [first] = operands;
  for (const file of operands) readEffect(call.findings, file, call.scope);
  const { directory } = call.scope;
  if (first === undefined)
    return directory?.startsWith('/') === true ? { kind: 'listing', root: directory } : UNKNOWN;
  return { kind: 'listing', root: listed(first, call) };
};

/** `ls -d /*` lists what `ls /` does. */
function listed(first: Field, { scope }: Invocation): string {
  const path = rootPath(first, scope.directory);
  return judgeTree(first, scope.directory) === 'vital' && path.includes('*') ? '/' : path;
}

export const TEXT_JUDGES: Judges = {
  ...Object.fromEntries(FILTERS.map((name) => [name, judgeFilter])),
  echo: judgeEcho,
  cat: judgeCat,
  bat: judgeCat,
  tac: judgeTac,
  base64: judgeBase64,
  base32: judgeBase32,
  xxd: judgeXxd,
  rev: judgeRev,
  tr: judgeTr,
  yes: judgeYes,
  ls: judgeLs,
  wc: printsNumber,
  nproc: printsNumber,
  seq: printsNumber,
  expr: printsNumber,
};
