/**
 * Text that a person is asked about, with everything in it visible: controls, direction overrides, invisible characters,
 * unusual blanks, and letters that look like other letters stand as `‹U+200B›`. Nothing is dropped. `line`: line feeds and
 * tabs too.
 */
export function reveal(text: string, mode: 'line' | 'text' = 'text'): string {
  // Most text is plain.
  if (!/[^\x20-\x7e]/.test(text)) return text;
  const shown = text
    .replace(mode === 'line' ? UNSEEN_IN_LINE : UNSEEN, mark)
    .replace(WORD, (word) => (isDisguised(word) ? word.replace(LOOKS_LIKE_ASCII, mark) : word));
  return shown.replace(LOOKS_LIKE_A_SIGN, mark);
}

function mark(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `‹U+${code.toString(16).toUpperCase().padStart(4, '0')}›`;
}

/** Controls, formats, lone halves, what is not assigned, blanks but the usual one, and what fonts show as nothing. */
const UNSEEN_IN_LINE =
  /(?! )[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

const UNSEEN =
  /(?![ \n\t])[\p{C}\p{Z}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]/gu;

/** Letters, digits and marks in a row. */
const WORD = /[\p{L}\p{M}\p{N}]*[^\x00-\x7f\P{L}][\p{L}\p{M}\p{N}]*/gu;

/** Letters of Greek, Cyrillic, Armenian, Cherokee and others that look like one of `a` to `z`; styled and wide ones. */
const LOOKS_LIKE_ASCII =
  /[\u0131\u0251\u0261\u0269\u1d04\u1d0f\u1d1c\u1d20-\u1d22\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0435\u043a\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0475\u04ae\u04af\u04bb\u04c0\u04cf\u0501\u051b\u051d\u0555\u0561\u0563\u0566\u0570\u0575\u057c\u057d\u0578\u0581\u0585\u13a0-\u13f4\u2100-\u214f\u2160-\u217f\uff21-\uff3a\uff41-\uff5a\u{1d400}-\u{1d7ff}]/gu;

/** A word of look-alikes alone, or one that has such beside a letter of ASCII: a Russian word is neither. */
function isDisguised(word: string): boolean {
  const letters = word.replaceAll(/[^\p{L}]/gu, '');
  const rest = letters.replaceAll(LOOKS_LIKE_ASCII, '');
  return rest.length < letters.length && (rest === '' || /[A-Za-z]/.test(rest));
}

/** Signs that look like those of a shell or an address, wide forms, and a dash where an option begins. */
const LOOKS_LIKE_A_SIGN =
  /[\u01c3\u02d0\u02d7\u0589\u05c3\u037e\u066a\u06d4\u2010-\u2012\u2024\u2027\u2044\u2052\u2212\u2215\u2216\u2223\u2236\u223c\u29f5\u29f8\u29f9\u2d4f\ua4ff\ua789\ufe52-\ufe6b\uff01-\uff20\uff3b-\uff40\uff5b-\uff65]|(?<![^\s])[\u2013\u2014](?=[A-Za-z])/gu;
