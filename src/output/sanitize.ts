import { findSpecial, INLINE_KINDS, OUTPUT_KINDS } from './character-kind.js';
import { createNeutralizer, type SanitizeMode } from './create-neutralizer.js';
import { createUtf8Splitter, PLAIN_PIECE_BYTES, plainText, toBuffer } from './plain-text.js';

/** The whole of a text, made harmless as `createSanitizer` does it. Text that needs nothing comes back as it is. */
export function sanitize(text: string, mode: SanitizeMode = 'output'): string {
  const kinds = mode === 'inline' ? INLINE_KINDS : OUTPUT_KINDS;
  if (findSpecial(text, 0, kinds) === text.length) return text;
  const sanitizer = createSanitizer(mode);
  return sanitizer.push(text) + sanitizer.end();
}

export interface Sanitizer {
  /** The part of the clean text that is certain by now. Bytes are UTF-8. */
  push(chunk: Uint8Array | string): string;
  /** The rest. The sanitizer then stands at the beginning again. */
  end(): string;
}

const REPLACEMENT = '\ufffd';

/**
 * Text from a stranger, made harmless for a terminal and for a reader (D005, D077, D104, D138). Removed: escape
 * sequences of every kind in 7 and 8 bits, control characters but tab and line feed, direction controls, and
 * invisible characters where they mean nothing. CRLF stays, a lone CR becomes LF. What is not Unicode becomes U+FFFD.
 *
 * 1. The text is the same however the input is cut into chunks, of bytes or of strings.
 * 2. Sanitizing twice changes nothing: whether a character stays depends on shown characters alone.
 * 3. Memory does not grow with the input: one unfinished and one undecided character (or flag) are kept, no more.
 */
export function createSanitizer(mode: SanitizeMode = 'output'): Sanitizer {
  const kinds = mode === 'inline' ? INLINE_KINDS : OUTPUT_KINDS;
  const neutralizer = createNeutralizer(mode);
  const splitter = createUtf8Splitter();
  let highSurrogate = '';

  function pushBytes(chunk: Uint8Array): string {
    const lone = highSurrogate === '' ? '' : REPLACEMENT;
    highSurrogate = '';
    const whole = splitter.take(chunk);
    const plain = lone === '' && neutralizer.isIdle() ? plainText(whole, kinds) : undefined;
    return plain === undefined
      ? neutralizer.push(lone + toBuffer(whole).toString('utf8'))
      : neutralizer.pass(plain);
  }

  return {
    push(chunk) {
      if (typeof chunk !== 'string') {
        if (chunk.length <= PLAIN_PIECE_BYTES) return pushBytes(chunk);
        return piecesOf(chunk).map(pushBytes).join('');
      }
      // Whichever kind of half character waits, a chunk of the other kind cannot bring its second half.
      const text = splitter.end() + highSurrogate + chunk;
      const end = isHighSurrogate(text.charCodeAt(text.length - 1)) ? text.length - 1 : text.length;
      highSurrogate = text.slice(end);
      return neutralizer.push(end === text.length ? text : text.slice(0, end));
    },
    end() {
      const rest = splitter.end() + (highSurrogate === '' ? '' : REPLACEMENT);
      highSurrogate = '';
      return neutralizer.push(rest) + neutralizer.end();
    },
  };
}

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / PLAIN_PIECE_BYTES);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * PLAIN_PIECE_BYTES, (index + 1) * PLAIN_PIECE_BYTES),
  );
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
