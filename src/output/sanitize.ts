import { isText, requireArgument, showGiven } from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import { findSpecial, INLINE_KINDS, OUTPUT_KINDS } from './character-kind.js';
import { createNeutralizer, type SanitizeMode } from './create-neutralizer.js';
import { createUtf8Splitter, PLAIN_PIECE_BYTES, plainText, toBuffer } from './plain-text.js';

/**
 * Sanitizes a whole text like `createSanitizer`. A harmless text is returned unchanged.
 * @throws ToolError `config_invalid` for an unknown mode, and if `text` is not a string
 */
export function sanitize(text: string, mode: SanitizeMode = 'output'): string {
  requireArgument('sanitize()', text, isText, 'a text');
  const kinds = kindsOf(mode);
  if (findSpecial(text, 0, kinds) === text.length) return text;
  const sanitizer = createSanitizer(mode);
  return sanitizer.push(text) + sanitizer.end();
}

export interface Sanitizer {
  /**
   * The part of the clean text that is certain. Bytes are UTF-8.
   * @throws ToolError `config_invalid` for anything but a text or bytes
   */
  push(chunk: Uint8Array | string): string;
  /** The rest. Then the sanitizer is ready for a new text. */
  end(): string;
}

const REPLACEMENT = '\ufffd';

/**
 * Makes untrusted text safe for a terminal and a reader (D005, D077, D104, D138). It removes escape sequences
 * of every kind in 7 and 8 bits, control characters except tab and line feed, direction controls, and
 * invisible characters without a meaning. CRLF stays, a lone CR becomes LF. Invalid Unicode becomes U+FFFD.
 *
 * 1. The result does not depend on how the input is cut into chunks of bytes or strings.
 * 2. Sanitizing twice changes nothing: only shown characters decide whether a character stays.
 * 3. Memory does not grow with the input: at most one unfinished and one undecided character (or flag) are
 *   kept.
 * @throws ToolError `config_invalid` for an unknown mode
 */
export function createSanitizer(mode: SanitizeMode = 'output'): Sanitizer {
  const kinds = kindsOf(mode);
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
        requireArgument('push()', chunk, ArrayBuffer.isView, 'a text or bytes');
        if (chunk.length <= PLAIN_PIECE_BYTES) return pushBytes(chunk);
        return piecesOf(chunk).map(pushBytes).join('');
      }
      // A waiting half of one kind cannot be completed by a chunk of the other kind.
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

// A misspelled `inline` must not let line ends through.
function kindsOf(mode: SanitizeMode): Uint8Array {
  if (mode === 'output') return OUTPUT_KINDS;
  if (mode === 'inline') return INLINE_KINDS;
  throw new ToolError(
    'config_invalid',
    `The mode of sanitize must be "output" or "inline", got ${showGiven(mode)}.`,
  );
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
