import { REDACTION_MARKER } from '../contract/call.js';

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;

/** Lines of base64, as they follow a header whose end is missing. A break may be written as \n. */
const CUT_BODY =
  /(?:(?:\\[nr]|[ \t\r\n]){1,16}[A-Za-z0-9+/=]{16,})+(?:(?:\\[nr]|[ \t\r\n]){1,16}[A-Za-z0-9+/]{1,15}={0,2}(?![A-Za-z0-9]))?/y;

/**
 * Hides what stands between the first and last line of private keys in PEM and PGP armour, whatever it looks like
 * (quoted, indented, line numbers in front). Of a key without its last line all that can be key is hidden.
 */
export function hidePrivateKeys(text: string): string {
  let out = '';
  let copied = 0;
  BEGIN.lastIndex = 0;
  for (let begin = BEGIN.exec(text); begin !== null; begin = BEGIN.exec(text)) {
    const bodyAt = BEGIN.lastIndex;
    const bodyEnd = endOfBody(text, bodyAt);
    if (bodyEnd <= bodyAt) continue;
    out += text.slice(copied, bodyAt) + REDACTION_MARKER;
    copied = bodyEnd;
    BEGIN.lastIndex = bodyEnd;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function endOfBody(text: string, from: number): number {
  // The next rule of dashes is the last line, or this key has none: so every part is read once.
  const dashes = text.indexOf('-----', from);
  END.lastIndex = dashes;
  if (dashes >= 0 && END.exec(text)?.index === dashes) return dashes;
  CUT_BODY.lastIndex = from;
  return CUT_BODY.test(text) ? CUT_BODY.lastIndex : from;
}
