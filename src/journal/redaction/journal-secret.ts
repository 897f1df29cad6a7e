import { createHmac, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import canonicalize from 'canonicalize';
import type { JsonValue } from '../../contract/json.js';
import { ensureSecretFile } from '../../platform/fs/secret-file.js';
import { journalFailure, journalUnavailable } from '../records/journal-errors.js';
import { toLeftOut } from './left-out.js';

/** The place of an argument: an equal value elsewhere has another digest. */
export interface ArgumentPlace {
  readonly toolName: string;
  readonly callId: string;
  readonly pointer: string;
}

/** Replaces an omitted argument: equal for the same value in the same place under the same key. */
export type Digest = (place: ArgumentPlace, value: JsonValue) => string;

const KEY_BYTES = 32;

/** The path of the key for the journal at `path`. */
export function keyPath(path: string): string {
  return `${path}-key`;
}

/**
 * Creates digests with a key that is generated once and stored next to the journal, readable only by its owner. So a
 * copy of the journal alone does not allow guessing values.
 * @param path undefined: the key ends with the process.
 * @throws the digest throws ToolError `journal_unavailable` if the key can be neither read nor created.
 */
export function createDigest(path: string | undefined): Digest {
  const absolute = path === undefined ? undefined : resolve(path);
  let key: Buffer | undefined;
  return ({ toolName, callId, pointer }, value) => {
    key ??= absolute === undefined ? randomBytes(KEY_BYTES) : readKey(absolute);
    const text = canonicalize([toolName, callId, pointer, value]) ?? '';
    return toLeftOut(createHmac('sha256', key).update(text).digest('base64url'));
  };
}

function readKey(path: string): Buffer {
  try {
    const text = ensureSecretFile(keyPath(path), () => `${randomBytes(KEY_BYTES).toString('base64url')}\n`);
    const key = Buffer.from(text.trim(), 'base64url');
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    throw journalFailure(path, error);
  }
  throw journalUnavailable(
    `Cannot use the journal "${path}"`,
    `"${keyPath(path)}" is not the key of a journal`,
    'Restore it from a copy, or remove it: then calls that were delivered before are refused.',
  );
}
