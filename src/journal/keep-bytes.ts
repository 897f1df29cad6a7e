import type { Operation } from './group-commit.js';
import { sha256 } from './link-hash.js';
import { storeLongText } from './long-text.js';

/** Keeps bytes under the hash of their content. They must not be changed before that is done. */
export function keepBytes(bytes: Uint8Array): Operation<string> {
  const hash = sha256(bytes);
  return {
    writes: true,
    run(database) {
      storeLongText(database, { inline: null, blob: hash, bytes });
      return hash;
    },
  };
}

/** What was kept under a hash; a content that is not what its name says counts as lost. */
export function readKept(hash: string): Operation<Uint8Array | undefined> {
  return {
    writes: false,
    run(database) {
      const content = database.prepared('SELECT content FROM blobs WHERE hash = ?').get(hash)?.content;
      return content instanceof Uint8Array && sha256(content) === hash ? content : undefined;
    },
  };
}
