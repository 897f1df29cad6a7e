/**
 * Holds large contents outside of a journal's database. Nothing is ever replaced: a key belongs to one content. A method
 * that fails rejects, after its own attempts.
 */
export interface ObjectStore {
  /** The place, for messages: without credentials. */
  readonly name: string;
  /** @param key of A-Z, a-z, 0-9, `-` and `/` */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Undefined: there is no such object. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Removes an object, if it is there. */
  delete(key: string): Promise<void>;
}
