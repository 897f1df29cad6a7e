import type { Field } from '../field.js';
import type { Invocation } from '../shell.js';
import type { Stream } from '../stream.js';

/** Secrets that leave the machine, and a shell that strangers are given. */
export function judgeSent({ findings, name }: Invocation, stream: Stream | undefined): void {
  if (stream?.kind === 'secret') findings.block(`${name} would send a secret away (${stream.path}).`);
  if (stream?.kind === 'shell') findings.block(`${name} would give a shell to whoever is connected.`);
}

/** What a word carries that came of a secret. */
export function hiddenSecret(word: Field): Stream | undefined {
  for (const piece of word.pieces)
    if (piece.kind === 'unknown' && piece.from?.kind === 'secret') return piece.from;
  return undefined;
}

/** An address as it is typed, with the scheme that is meant. */
export function toUrl(text: string, scheme: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`;
}

/** What a command asks of the network. */
export function fetches({ findings }: Invocation, url: string): void {
  findings.effect({ kind: 'fetch', url });
}
