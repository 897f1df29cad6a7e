import type { FileStat, ReadOptions } from './files.js';

/** Takes one output while it is produced. */
export interface OutputSink {
  /** Bytes from here on are kept; before, the sink holds what came until it is more than `holdBytes`. */
  push(chunk: Uint8Array): void | Promise<void>;
  /** Keeps also what is no more than `holdBytes`. */
  keep(): void;
  /** Where it can be read; undefined when it was too little to be kept, or could not be. */
  end(): Promise<string | undefined>;
}

/**
 * Untruncated outputs, under opaque URIs (decision 4). Each is kept up to a limit, all together too: then the oldest
 * make room.
 */
export interface OutputStore {
  /** Whether `path` is written as such a URI is: then it is no path of the file system. */
  owns(path: string): boolean;
  openSink(): OutputSink;
  /** Keeps a text, or bytes; undefined when it could not be kept. */
  save(content: string | Uint8Array): string | undefined;
  /** @throws ToolError `execution_failed` with `details.errno` `ENOENT` when it is no longer, or never was, kept. */
  stat(ref: string): Promise<FileStat>;
  read(ref: string, options?: ReadOptions): Promise<Uint8Array>;
  /** Deletes what is not meant to outlive its owner. */
  close(): Promise<void>;
}
