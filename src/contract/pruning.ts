/** Selects what a journal removes: old batches with their calls, and then everything that is no longer referred to. */
export interface PruneLimits {
  /** Removes what was finished before this time; milliseconds since the epoch. */
  readonly before?: number;
  /** Removes the oldest batches until the journal's content has at most so many bytes. */
  readonly maxBytes?: number;
  /** Reports what would be removed, without removing it. Default false. */
  readonly dryRun?: boolean;
}

/** The removed records, or those that a prune would remove. */
export interface Pruned {
  readonly batches: number;
  readonly calls: number;
  readonly messages: number;
  /** Contents, such as images and the old contents of files, that are no longer referred to. */
  readonly blobs: number;
  /** The size of the content, without free space. In a database: that of the tenant, as it is stored. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Whether the file was shortened. If false, the free space is reused. A database always reuses it. */
  readonly shrunk: boolean;
}
