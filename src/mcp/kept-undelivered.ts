import { entryStat } from '../platform/fs/fs-entry.js';
import { readPrivateFile, updatePrivateFile } from '../platform/sqlite/private-file.js';
import { keyOf, type UndeliveredCalls } from './undelivered-calls.js';

/** Above this number the oldest calls are forgotten. If such a call is sent again, it is a new call. */
const MOST_CALLS = 1_000;

/**
 * Keeps such calls in a file (mode 0600), for all processes that serve the same journal. The first call creates the
 * file.
 * @param path beside the journal
 */
export function keptUndelivered(path: string): UndeliveredCalls {
  return {
    get isEmpty() {
      return entryStat(path) === undefined;
    },
    find: (conversation, digest) => parse(readPrivateFile(path)).get(keyOf(conversation, digest)),
    keep(conversation, digest, callId) {
      const key = keyOf(conversation, digest);
      let kept = callId;
      updatePrivateFile(path, (bytes) => {
        const calls = parse(bytes);
        kept = calls.get(key) ?? callId;
        if (calls.has(key)) return bytes;
        calls.set(key, callId);
        return write([...calls].slice(-MOST_CALLS));
      });
      return kept;
    },
    deliver(conversation, digest, callId) {
      const key = keyOf(conversation, digest);
      let isOurs = false;
      updatePrivateFile(path, (bytes) => {
        const calls = parse(bytes);
        isOurs = calls.get(key) === callId;
        if (!isOurs) return bytes;
        calls.delete(key);
        return write([...calls]);
      });
      return isOurs;
    },
  };
}

/** A damaged file counts as empty: its calls are asked about again. */
function parse(bytes: Uint8Array | undefined): Map<string, string> {
  if (bytes === undefined) return new Map();
  try {
    const calls: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    const entries = Array.isArray(calls) ? calls.filter(isEntry) : [];
    return new Map(entries);
  } catch {
    return new Map();
  }
}

function isEntry(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === 'string');
}

function write(calls: readonly (readonly [string, string])[]): Uint8Array {
  return Buffer.from(JSON.stringify(calls));
}
