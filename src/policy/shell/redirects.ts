import type { Expander } from './expand/expand-word.js';
import type { HereDoc, Redirection } from './parse/parse-shell.js';
import type { Shell } from './words/call.js';
import { dangerOfFile } from './words/danger.js';
import { exactText, type Field, type Stream, streamFrom, streamOf, UNKNOWN } from './words/field.js';
import { secretIn } from './words/place.js';
import { type Scope, UNKNOWN_NUMBER } from './words/scope.js';
import { setVariable } from './words/variables.js';

export interface Redirected {
  readonly input: Stream;
  readonly isOutputElsewhere: boolean;
  /** The file that the output goes to. */
  readonly output: Field | undefined;
}

/** Looks at redirections: what they write to, and what comes in through them. */
export function redirect(
  shell: Shell,
  expander: Expander,
  redirections: readonly Redirection[],
  scope: Scope,
  input: Stream,
): Redirected {
  let current = input;
  let output: Field | undefined;
  /** What stands on the descriptors that are opened here. */
  const opened = new Map<number, Stream>([[0, input]]);
  for (const redirection of redirections) {
    const descriptor =
      redirection.descriptor?.type === 'FileDescriptor' ? redirection.descriptor.value : undefined;
    if (redirection.descriptor?.type === 'FileDescriptorVariable')
      setVariable({ shell, scope }, redirection.descriptor.name, UNKNOWN_NUMBER);
    const isInput = (descriptor ?? 0) === 0;
    if (redirection.type === 'HereDoc') {
      const document = hereDocument(expander, redirection, scope);
      opened.set(descriptor ?? 0, document);
      if (isInput) current = document;
      continue;
    }
    const { target, operator } = redirection;
    if (target === undefined) continue;
    const field = expander.single(target, scope);
    if (redirection.type === 'HereString') {
      const text = streamOf(field.pieces, field.literal, '\n');
      opened.set(descriptor ?? 0, text);
      if (isInput) current = text;
      continue;
    }
    if (isDuplicate(operator, field)) {
      if (operator === '<&' && isInput) current = opened.get(Number(exactText(field))) ?? UNKNOWN;
      continue;
    }
    if (operator !== '<') writeTo(shell, field, scope);
    if (operator === '<' || operator === '<>') {
      reachNetwork(shell, field);
      shell.findings.touches('read', field, scope);
      const content = fromNetwork(field) ?? secretIn(field, scope.directory) ?? scope.contentOf(field);
      opened.set(descriptor ?? 0, content ?? streamFrom([field]));
      if (isInput) current = content ?? streamFrom([field]);
    }
    const network = operator === '<' ? undefined : fromNetwork(field);
    if (network !== undefined) opened.set(descriptor ?? 1, network);
    // Both ends at once: `>& /dev/tcp/… 0>&1`.
    current = network ?? current;
    if (operator === '<') continue;
    if ((descriptor ?? 1) === 1) output = field;
    else scope.noteWritten(field, UNKNOWN);
  }
  return { input: current, isOutputElsewhere: output !== undefined, output };
}

/** `2>&1`, `>&-`: no file. */
function isDuplicate(operator: string, field: Field): boolean {
  if (operator === '<&') return true;
  return operator === '>&' && /^(?:\d+-?|-)$/.test(exactText(field) ?? '');
}

function hereDocument(expander: Expander, { body, delimiter }: HereDoc, scope: Scope): Stream {
  if (body.parts === undefined) return { kind: 'text', text: body.text, literal: true };
  const isPlain = delimiter?.quoted === true || body.parts.every(({ type }) => type === 'Literal');
  return streamOf(expander.parts(body.parts, scope), isPlain, '');
}

function writeTo(shell: Shell, field: Field, scope: Scope): void {
  const { findings } = shell;
  const danger = dangerOfFile(field, scope.directory);
  if (danger.kind === 'vital') findings.block(`it would overwrite ${danger.what}, ${field.shown}.`);
  if (danger.kind === 'unclear')
    findings.ask(`It writes to ${field.shown}, and it cannot be told what that hits.`);
  reachNetwork(shell, field);
  findings.touches('write', field, scope);
}

function fromNetwork({ shown }: Field): Stream | undefined {
  return /^\/dev\/(?:tcp|udp)\//.test(shown) ? { kind: 'fetched', from: shown } : undefined;
}

/** Bash itself connects for `/dev/tcp/host/port`. */
function reachNetwork({ findings }: Shell, { shown }: Field): void {
  const match = /^\/dev\/(tcp|udp)\/([^/]*)\/?(.*)$/.exec(shown);
  if (match === null) return;
  const [, protocol = '', host = '', port = ''] = match;
  findings.ask(`It opens a connection to ${host} (${shown}).`);
  findings.effect({ kind: 'fetch', url: `${protocol}://${host}:${port}` });
}
