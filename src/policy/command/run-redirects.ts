import { exactText, type Field, sourceOf } from './field.js';
import { fromPieces } from './from-pieces.js';
import type { Interpreter } from './interpreter.js';
import { judgeTarget } from './judge-place.js';
import type { HereDoc, Redirection } from './parse-shell.js';
import { readEffect, writeEffect } from './report-effects.js';
import type { Scope } from './scope.js';
import { readsSecret } from './secret-file.js';
import { type Stream, UNKNOWN } from './stream.js';

export interface Redirected {
  readonly input: Stream;
  readonly isOutputElsewhere: boolean;
  /** The file that the output goes to. */
  readonly output: Field | undefined;
}

/** Looks at redirections: what they write to, and what comes in through them. */
export function redirectInput(
  shell: Interpreter,
  redirections: readonly Redirection[],
  scope: Scope,
  input: Stream,
): Redirected {
  let current = input;
  let isOutputElsewhere = false;
  let output: Field | undefined;
  for (const redirection of redirections) {
    const descriptor =
      redirection.descriptor?.type === 'FileDescriptor' ? redirection.descriptor.value : undefined;
    if (redirection.type === 'HereDoc') {
      if ((descriptor ?? 0) === 0) current = hereDocument(shell, redirection, scope);
      else hereDocument(shell, redirection, scope);
      continue;
    }
    const { target } = redirection;
    if (target === undefined) continue;
    const field = shell.expander.single(target, scope);
    if (redirection.type === 'HereString') {
      if ((descriptor ?? 0) === 0) current = fromPieces(field.pieces, field.literal, '\n');
      continue;
    }
    const { operator } = redirection;
    if (isDuplicate(operator, field)) continue;
    if (operator !== '<') writeTo(shell, field, scope);
    if (operator === '<' || operator === '<>') {
      readFrom(shell, field, scope);
      if ((descriptor ?? 0) === 0)
        current = fromNetwork(field) ?? readsSecret(field, scope) ?? sourceOf(field) ?? UNKNOWN;
    }
    // Both ends at once: `>& /dev/tcp/… 0>&1`.
    current = operator === '<' ? current : (fromNetwork(field) ?? current);
    if (operator !== '<' && (descriptor ?? 1) === 1) {
      isOutputElsewhere = true;
      output = field;
    }
  }
  return { input: current, isOutputElsewhere, output };
}

/** `2>&1`, `>&-`: no file. */
function isDuplicate(operator: string, field: Field): boolean {
  if (operator !== '>&' && operator !== '<&') return false;
  const text = exactText(field);
  return operator === '<&' || (text !== undefined && /^(?:\d+-?|-)$/.test(text));
}

function hereDocument(shell: Interpreter, { body, delimiter }: HereDoc, scope: Scope): Stream {
  if (body.parts === undefined) return { kind: 'text', text: body.text, literal: true };
  const pieces = shell.expander.parts(body.parts, scope);
  const isPlain = delimiter?.quoted === true || body.parts.every(({ type }) => type === 'Literal');
  return fromPieces(pieces, isPlain, '');
}

function writeTo(shell: Interpreter, field: Field, scope: Scope): void {
  const { findings } = shell;
  const judgement = judgeTarget(field, scope.directory);
  if (judgement.kind === 'vital') findings.block(`it would overwrite ${judgement.what}, ${field.shown}.`);
  if (judgement.kind === 'unclear')
    findings.ask(`It writes to ${field.shown}, and it cannot be told what that hits.`);
  networkDevice(shell, field);
  writeEffect(findings, field, scope);
}

function readFrom(shell: Interpreter, field: Field, scope: Scope): void {
  networkDevice(shell, field);
  readEffect(shell.findings, field, scope);
}

function fromNetwork({ shown }: Field): Stream | undefined {
  return /^\/dev\/(?:tcp|udp)\//.test(shown) ? { kind: 'fetched', from: shown } : undefined;
}

/** Bash itself connects for `/dev/tcp/host/port`. */
function networkDevice({ findings }: Interpreter, field: Field): void {
  const match = /^\/dev\/(tcp|udp)\/([^/]*)\/?(.*)$/.exec(field.shown);
  if (match === null) return;
  const [, protocol = '', host = '', port = ''] = match;
  findings.ask(`It opens a connection to ${host} (${field.shown}).`);
  findings.effect({ kind: 'fetch', url: `${protocol}://${host}:${port}` });
}
