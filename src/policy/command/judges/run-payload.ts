import { exactText, type Field, knownText, sourceOf } from '../field.js';
import type { Scope } from '../scope.js';
import type { Invocation } from '../shell.js';
import { INHERITED, type Stream, UNKNOWN } from '../stream.js';
import { unescapeText } from './printf-text.js';

/** A word that is read as shell code (`sh -c`, `eval`, `trap`): only what is written out can be told. */
export function runCodeWord(call: Invocation, word: Field, scope: Scope, input: Stream = INHERITED): Stream {
  const { findings, name, shell } = call;
  const source = sourceOf(word);
  if (source?.kind === 'fetched') blockFetched(call, source.from);
  if (!word.literal) findings.ask(`The code that ${name} runs is computed: ${word.shown}`);
  const text = exactText(word) ?? knownText(word);
  return text.trim() === '' ? UNKNOWN : shell.runText(text, scope, input);
}

/** A stream that is read as shell code (`… | sh`, `bash <<EOF`). */
export function runCodeStream(call: Invocation, stream: Stream, scope: Scope): Stream {
  const { findings, name, shell } = call;
  switch (stream.kind) {
    case 'text':
      if (!stream.literal) findings.ask(`The code that ${name} reads is computed.`);
      if (stream.text.includes('\\') && !stream.literal)
        shell.runText(unescapeText(stream.text), scope.copy(), INHERITED);
      return shell.runText(stream.text, scope, INHERITED);
    case 'fetched':
      blockFetched(call, stream.from);
      return UNKNOWN;
    default:
      findings.ask(`${name} runs code from its input, and that is not known.`);
      return { kind: 'shell' };
  }
}

function blockFetched({ findings, name }: Invocation, from: string): void {
  findings.block(`${name} would run what comes from the network unseen (${from}).`);
}

/** The words behind a wrapper's options, as a command. */
export function runRest(
  call: Invocation,
  words: readonly Field[],
  scope = call.scope,
  input = call.input,
): Stream {
  if (words.length === 0) return UNKNOWN;
  call.findings.record(
    words[0] ?? call,
    words.map(({ shown }) => shown),
  );
  return call.shell.runWords(words, scope, input);
}

/** A text that is evaluated as arithmetic or as a name: what stands in `$(…)` within an index is run then. */
export function runSubstitutions({ shell, scope }: Invocation, text: string): void {
  if (/\$\(|`/.test(text)) shell.runText(`: "${text.replaceAll('"', '')}"`, scope.copy(), INHERITED);
}
