import type { ContentBlock } from '../../contract/call.js';
import { ToolError } from '../../errors/tool-error.js';

/** The content of an answer, recognized from its bytes, not only from its headers. */
export type WebContent =
  | { readonly kind: 'html' | 'text'; readonly text: string; readonly mediaType: string }
  | { readonly kind: 'block'; readonly block: ContentBlock; readonly mediaType: string };

const IMAGES: Readonly<Record<string, readonly number[]>> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
};
const WEBP = [0x57, 0x45, 0x42, 0x50];
const PDF = [0x25, 0x50, 0x44, 0x46, 0x2d];

/**
 * @throws ToolError `fetch_failed` for content that is neither text, a PDF nor a picture, or that contradicts
 * its type
 */
export function readAnswer(bytes: Uint8Array, contentType: string, shown: string): WebContent {
  const [type = ''] = contentType.split(';');
  const mediaType = type.trim().toLowerCase();
  if (startsWith(bytes, PDF) || (mediaType === 'application/pdf' && isLatePdf(bytes))) {
    const block = { type: 'resource', uri: shown, mediaType: 'application/pdf', data: bytes } as const;
    return { kind: 'block', block, mediaType: 'application/pdf' };
  }
  const image = Object.keys(IMAGES).find((name) => isImage(bytes, name));
  if (image !== undefined && (mediaType.startsWith('image/') || UNKNOWN_TYPES.has(mediaType))) {
    return { kind: 'block', block: { type: 'image', mediaType: image, data: bytes }, mediaType: image };
  }
  const charset = charsetOf(bytes, contentType);
  if (!isText(bytes, mediaType, charset)) throw wrongType(mediaType, shown);
  const text = decode(bytes, charset ?? charsetIn(bytes));
  const isHtml =
    /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType) || (mediaType === '' && looksLikeHtml(text));
  return { kind: isHtml ? 'html' : 'text', text, mediaType: mediaType || 'text/plain' };
}

/** Readers of PDF accept other bytes before its mark. */
function isLatePdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 1_024)).includes(Buffer.from(PDF));
}

function isImage(bytes: Uint8Array, name: string): boolean {
  // Sound and films begin like a WebP picture.
  const isOther = name === 'image/webp' && !startsWith(bytes.subarray(8), WEBP);
  return startsWith(bytes, IMAGES[name] ?? []) && !isOther;
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return bytes.length >= magic.length && magic.every((byte, at) => bytes[at] === byte);
}

const TEXT_TYPE =
  /^(?:|text\/.*|application\/(?:json|xml|xhtml\+xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql|x-sh|x-ndjson|ld\+json|rtf|.*\+(?:json|xml|yaml)))$/;

/** Types of servers that do not know better. */
const UNKNOWN_TYPES: ReadonlySet<string> = new Set(['', 'application/octet-stream', 'binary/octet-stream']);
/** Types whose content is text only if all of it can be read as UTF-8: a server may not know the name of a file. */
const PERHAPS_TEXT = /^(?:application\/.*|binary\/octet-stream|image\/svg\+xml|model\/.*|message\/.*)$/;
const NEVER_TEXT = /^application\/(?:pdf|zip|gzip|zstd|x-tar|java-archive|wasm)$/;

/** Decided by its type and its bytes: text contains no NUL, unless it is UTF-16. */
function isText(bytes: Uint8Array, mediaType: string, charset: string | undefined): boolean {
  if (TEXT_TYPE.test(mediaType)) {
    return /^utf-16/i.test(charset ?? '') || !bytes.subarray(0, 8_192).includes(0);
  }
  if (!PERHAPS_TEXT.test(mediaType) || NEVER_TEXT.test(mediaType) || bytes.includes(0)) return false;
  return isUtf8(bytes) && !CONTROLS.test(Buffer.from(bytes.subarray(0, 8_192)).toString('latin1'));
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Controls that no text file holds. */
const CONTROLS = /[\x01-\x08\x0e-\x1a\x1c-\x1f]/;

function wrongType(mediaType: string, shown: string): ToolError {
  const named =
    mediaType === ''
      ? 'of no known type'
      : TEXT_TYPE.test(mediaType) || mediaType === 'application/pdf' || Object.hasOwn(IMAGES, mediaType)
        ? `not the ${mediaType} that it says`
        : mediaType;
  return new ToolError(
    'fetch_failed',
    `Cannot fetch ${shown}: its content is ${named}. Text, HTML, JSON, XML, PDF, PNG, JPEG, GIF and WebP can be read.`,
    { details: { url: shown, reason: 'WrongType', media_type: mediaType } },
  );
}

/** From its byte order mark, otherwise from the charset of its type; undefined: neither states it. */
function charsetOf(bytes: Uint8Array, contentType: string): string | undefined {
  const bom = BYTE_ORDER_MARKS.find(([mark]) => startsWith(bytes, mark));
  return bom?.[1] ?? /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
}

const BYTE_ORDER_MARKS: readonly (readonly [mark: readonly number[], charset: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];

/** From the page itself. */
function charsetIn(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, MOST_OF_HEAD)).toString('latin1');
  const ofPage = (XML_ENCODING.exec(head) ??
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(head))?.[1];
  // The statement itself was read as ASCII, so it cannot be true of UTF-16.
  return ofPage?.toLowerCase().startsWith('utf-16') === true ? 'utf-8' : ofPage;
}

/** The standard says 1,024, but browsers read on, and many pages have scripts first. */
const MOST_OF_HEAD = 16_384;

const XML_ENCODING = /^\s*<\?xml\s[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)/;

/** Old pages state no charset, and mean that of browsers. Text that has any character of UTF-8 is UTF-8. */
function decode(bytes: Uint8Array, label: string | undefined): string {
  const decoder = decoderOf(label ?? 'utf-8');
  if (decoder.encoding === WINDOWS) return decodeWindows(bytes);
  const text = decoder.decode(bytes);
  const isOld = label === undefined && text.includes('\ufffd') && !/[\x80-\ufffc\ufffe\uffff]/.test(text);
  return isOld ? decodeWindows(bytes) : text;
}

function decoderOf(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Also the name of latin1 and ASCII. Some versions of Node decode it without its quotes and dashes. */
const WINDOWS = 'windows-1252';

function decodeWindows(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1');
  return text.replace(/[\x80-\x9f]/g, (sign) => WINDOWS_SIGNS[sign.charCodeAt(0) - 0x80] as string);
}

/** From 0x80. */
const WINDOWS_SIGNS = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

function looksLikeHtml(text: string): boolean {
  return /^\s*(?:<!doctype html|<html[\s>]|<head[\s>]|<body[\s>])/i.test(text.slice(0, 1_024));
}
