import type { Expander } from './expand/expand-word.js';
import type { HereDoc, Redirection } from './parse/parse-shell.js';
import { Call } from './words/call.js';
import { secretIn } from './words/danger.js';
import { Field, NUMBER, type Stream, streamFrom, streamOf, UNKNOWN } from './words/field.js';
import type { Scope } from './words/scope.js';
import { setVariable } from './words/variables.js';

interface Redirected {
  readonly input: Stream;
  /** The file that the output goes to. */
  readonly output: Field | undefined;
}

/** Looks at redirections: what they write to, and what comes in through them. */
export function redirect(
  expander: Expander,
  redirections: readonly Redirection[],
  scope: Scope,
  input: Stream,
): Redirected {
  const { shell } = expander;
  let current = input;
  let output: Field | undefined;
  /** What stands on the descriptors that are opened here. */
  const opened = new Map<number, Stream>([[0, input]]);
  for (const redirection of redirections) {
    const { descriptor: given } = redirection;
    const descriptor = given?.type === 'FileDescriptor' ? given.value : undefined;
    if (given?.type === 'FileDescriptorVariable') setVariable({ shell, scope }, given.name, NUMBER);
    const opens = (stream: Stream): void => {
      opened.set(descriptor ?? 0, stream);
      if ((descriptor ?? 0) === 0) current = stream;
    };
    if (redirection.type === 'HereDoc') {
      opens(hereDocument(expander, redirection, scope));
      continue;
    }
    const { target, operator } = redirection;
    if (target === undefined) continue;
    const field = expander.single(target, scope);
    if (operator === '<<<') opens(streamOf(field, '\n'));
    if (operator === '<&' && (descriptor ?? 0) === 0) current = opened.get(Number(field.exact)) ?? UNKNOWN;
    if (operator === '<<<' || isDuplicate(operator, field)) continue;
    const network = reachNetwork(expander, field);
    const writes = operator !== '<';
    if (writes) new Call(shell, 'It', [], scope, input).overwrite(field, 'there');
    if (operator === '<' || operator === '<>') {
      shell.findings.touches('read', field, scope);
      const content = network ?? secretIn(field, scope.directory) ?? scope.contentOf(field);
      opens(content ?? streamFrom([field]));
    }
    if (!writes) continue;
    if (network !== undefined) opened.set(descriptor ?? 1, network);
    // Both ends at once: `>& /dev/tcp/… 0>&1`.
    current = network ?? current;
    if ((descriptor ?? 1) === 1) output = field;
    else scope.noteWritten(field, UNKNOWN);
  }
  return { input: current, output };
}

/** `2>&1`, `>&-`: no file. */
function isDuplicate(operator: string, field: Field): boolean {
  return operator === '<&' || (operator === '>&' && /^(?:\d+-?|-)$/.test(field.exact ?? ''));
}

function hereDocument(expander: Expander, { body, delimiter }: HereDoc, scope: Scope): Stream {
  if (body.parts === undefined) return { kind: 'text', text: body.text, literal: true };
  const isPlain = delimiter?.quoted === true || body.parts.every(({ type }) => type === 'Literal');
  return streamOf(new Field(expander.parts(body.parts, scope), '', isPlain), '');
}

/** Bash itself connects for `/dev/tcp/host/port`. */
function reachNetwork({ shell: { findings } }: Expander, { shown }: Field): Stream | undefined {
  const match = /^\/dev\/(tcp|udp)\/([^/]*)\/?(.*)$/.exec(shown);
  if (match === null) return undefined;
  const [, protocol = '', host = '', port = ''] = match;
  findings.ask(`It opens a connection to ${host} (${shown}).`);
  findings.effect({ kind: 'fetch', url: `${protocol}://${host}:${port}` });
  return { kind: 'fetched', from: shown };
}
