import { types } from 'node:util';
import { fromBase64, withBase64Json } from '../../base/base64.js';
import type { ContentBlock } from '../../contract/call.js';

/**
 * Reads content blocks and copies each part once, so that the code that made them cannot change them later.
 * Returns the reason as a text if a block is invalid. `recorded`: bytes may be base64, as they are in JSON.
 */
export function readContent(value: unknown, recorded: boolean): readonly ContentBlock[] | string {
  if (!Array.isArray(value)) {
    return 'content must be a list of blocks. Return any other value as { structured: … }';
  }
  const blocks: ContentBlock[] = [];
  for (const [index, item] of value.entries()) {
    const block = isObject(item) ? readBlock(item, recorded) : 'must be an object';
    if (typeof block === 'string') return `content[${index}] ${block}`;
    blocks.push(withBase64Json(block));
  }
  return blocks;
}

interface Parts {
  readonly [key: string]: unknown;
}

function readBlock(item: object, recorded: boolean): ContentBlock | string {
  const { type, text, data, mediaType, uri, name, description } = item as Parts;
  const media = readMediaType(mediaType);
  if (media === INVALID) return 'must have a mediaType such as "image/png"';
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : 'must have a text';
    case 'image':
    case 'audio':
      return readMedia(type, media, readBytes(data, recorded));
    case 'resource_link': {
      if (!isFilled(uri) || !isFilled(name)) return 'must have a uri and a name';
      if (description !== undefined && typeof description !== 'string')
        return 'must have a text as description';
      return { type, uri, name, ...typed(media), ...(description === undefined ? {} : { description }) };
    }
    case 'resource': {
      if (!isFilled(uri)) return 'must have a uri';
      if ((text === undefined) === (data === undefined)) return 'must have one of text and data';
      if (typeof text === 'string') return { type, uri, ...typed(media), text };
      const bytes = readBytes(data, recorded);
      if (bytes === undefined) return text === undefined ? NO_BYTES : 'must have a text that is a string';
      return { type, uri, ...typed(media), data: bytes };
    }
    default:
      return 'must have a type: text, image, audio, resource_link or resource';
  }
}

const NO_BYTES = 'must have a Uint8Array as data: Buffer.from(text, "base64") makes one of base64';

function readMedia(
  type: 'image' | 'audio',
  mediaType: string | undefined,
  data: Uint8Array | undefined,
): ContentBlock | string {
  if (mediaType?.startsWith(`${type}/`) !== true) return `must have a mediaType that begins with "${type}/"`;
  if (data === undefined) return NO_BYTES;
  return data.length === 0 ? 'must have data that is not empty' : { type, mediaType, data };
}

function readBytes(data: unknown, recorded: boolean): Uint8Array | undefined {
  if (types.isUint8Array(data)) return new Uint8Array(data);
  return recorded && typeof data === 'string' ? fromBase64(data) : undefined;
}

const MEDIA_TYPE = /^[\w.+!#$&^-]{1,64}\/[\w.+!#$&^-]{1,64}(?: *;[\x20-\x7e]{0,100})?$/;
const INVALID = Symbol('invalid');

function readMediaType(value: unknown): string | undefined | typeof INVALID {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !MEDIA_TYPE.test(value)) return INVALID;
  const lower = value.toLowerCase();
  // This type does not exist, but tools often name it.
  return lower === 'image/jpg' ? 'image/jpeg' : lower;
}

function typed(mediaType: string | undefined): { readonly mediaType?: string } {
  return mediaType === undefined ? {} : { mediaType };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
