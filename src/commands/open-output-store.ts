import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { OUTPUT_LIMITS, OUTPUT_SCHEME } from '../contract/output-limits.js';
import type { OutputSink, OutputStore } from '../contract/outputs.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import {
  makeTemporaryOutputDirectory,
  type OutputDirectory,
  openOutputDirectory,
  type WritableOutput,
} from '../platform/fs/output-directory.js';
import { assertOutOfReach } from '../platform/runtime/own-place.js';

export interface OutputStoreOptions {
  /** Keeps outputs for `KEPT_MS`. If absent: a temporary directory, which is removed with the store. */
  readonly directory?: string;
  /** Limit of one output; default 256 MiB. Later bytes are not kept. */
  readonly maxBytes?: number;
  /** Limit of all outputs; default 1 GiB. The oldest are dropped first. */
  readonly maxTotalBytes?: number;
  /** Creates a filter for each text output: removed parts never reach the disk. */
  readonly hide?: () => ByteFilter;
}

/** In a fleet, the id is followed by the name of the call. */
const REFERENCE = /^toolexec-output:([0-9a-f]{32})(?:@[\w.-]{1,200})?$/;
/** Outputs in a permanent directory are kept for a week. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** Opens the store of full outputs; it touches the disk with the first output (F004). */
export function openOutputStore(options: OutputStoreOptions = {}): OutputStore {
  return new DiskOutputStore(options);
}

class DiskOutputStore implements OutputStore {
  readonly #options: OutputStoreOptions;
  readonly #maxBytes: number;
  readonly #maxTotalBytes: number;
  #directory: OutputDirectory | undefined;

  constructor(options: OutputStoreOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? OUTPUT_LIMITS.storedBytes;
    this.#maxTotalBytes = options.maxTotalBytes ?? OUTPUT_LIMITS.allStoredBytes;
  }

  owns(path: string): boolean {
    return path.startsWith(OUTPUT_SCHEME);
  }

  openSink(): OutputSink {
    const { hide } = this.#options;
    return createOutputSink({ maxBytes: this.#maxBytes, create: () => this.#spill(), hide });
  }

  save(content: string | Uint8Array): string | undefined {
    const id = randomBytes(16).toString('hex');
    try {
      const bytes = typeof content === 'string' ? this.#hidden(Buffer.from(content, 'utf8')) : content;
      // A cut text is still useful; a cut image is not.
      if (typeof content !== 'string' && bytes.length > this.#maxBytes) return undefined;
      this.#withRoom(Math.min(bytes.length, this.#maxBytes)).save(
        fileName(id),
        bytes.subarray(0, this.#maxBytes),
      );
      return `${OUTPUT_SCHEME}${id}`;
    } catch {
      // The disk is full or inaccessible: the result says only that it was cut.
      return undefined;
    }
  }

  #hidden(bytes: Uint8Array): Uint8Array {
    const filter = this.#options.hide?.();
    return filter === undefined ? bytes : Buffer.concat([filter.push(bytes), filter.end()]);
  }

  #spill(): SpilledOutput {
    const id = randomBytes(16).toString('hex');
    return {
      ref: `${OUTPUT_SCHEME}${id}`,
      file: this.#withRoom().create(fileName(id)),
      discard: () => this.#directory && removeQuietly(this.#directory, fileName(id)),
    };
  }

  async stat(ref: string): ReturnType<OutputStore['stat']> {
    const { bytes, modifiedMs } = this.#find(ref);
    return { type: 'file', size: bytes, modifiedMs };
  }

  async read(
    ref: string,
    { offset = 0, length }: { offset?: number; length?: number } = {},
  ): Promise<Uint8Array> {
    const { name, bytes } = this.#find(ref);
    const most = Math.max(0, bytes - offset);
    return this.#open().read(name, offset, Math.min(length ?? most, most));
  }

  async close(): Promise<void> {
    if (this.#options.directory === undefined) this.#directory?.removeAll();
    this.#directory = undefined;
  }

  #find(ref: string): { readonly name: string; readonly bytes: number; readonly modifiedMs: number } {
    const id = REFERENCE.exec(ref)?.[1];
    try {
      if (id !== undefined) return this.#open().stat(fileName(id));
    } catch {
      // Reported below.
    }
    throw new ToolError(
      'execution_failed',
      `Cannot read "${ref.slice(0, 60)}": this output was not kept, or no longer is. Run the command again.`,
      { details: { errno: 'ENOENT' } },
    );
  }

  #open(): OutputDirectory {
    const { directory } = this.#options;
    this.#directory ??= directory === undefined ? makeTemporaryOutputDirectory() : openOwn(directory);
    return this.#directory;
  }

  /** The directory with room for an output: outdated and excess outputs are removed. */
  #withRoom(bytes = this.#maxBytes): OutputDirectory {
    const directory = this.#open();
    const files = directory
      .list()
      .filter(({ name }) => FILE_NAME.test(name))
      .sort((one, other) => one.modifiedMs - other.modifiedMs);
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    const oldest = systemClock.now() - KEPT_MS;
    for (const file of files) {
      if (file.modifiedMs >= oldest && total + bytes <= this.#maxTotalBytes) break;
      removeQuietly(directory, file.name);
      total -= file.bytes;
    }
    return directory;
  }
}

/** @throws WithinReach; the operating system's error. */
function openOwn(path: string): OutputDirectory {
  const directory = openOutputDirectory(path);
  assertOutOfReach(join(path, 'output'));
  return directory;
}

const FILE_NAME = /^[0-9a-f]{32}\.out$/;

function fileName(id: string): string {
  return `${id}.out`;
}

/** Another process may have been faster. */
function removeQuietly(directory: OutputDirectory, name: string): void {
  try {
    directory.remove(name);
  } catch {
    // It is gone already.
  }
}

interface OutputSinkOptions {
  /** The maximum to write; later bytes are not kept. */
  readonly maxBytes: number;
  /** Called with the first bytes to keep, because most commands print little. */
  readonly create: () => SpilledOutput;
  /** Created with the first bytes to write. If absent: bytes are written unchanged. */
  readonly hide?: (() => ByteFilter) | undefined;
}

/** Removes parts that must not reach a disk. A possible start of such a part is held back. */
interface ByteFilter {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** An output that is being written. */
interface SpilledOutput {
  readonly ref: string;
  readonly file: WritableOutput;
  /** Called if the written part cannot be trusted. */
  readonly discard: () => void;
}

/** How many bytes may wait for the disk before the writer has to wait. */
const MOST_WAITING = 4 * 1024 * 1024;

/** Writes in the background, in order, with bounded memory. A full disk must not fail the writer. */
function createOutputSink(options: OutputSinkOptions): OutputSink {
  return new DiskOutputSink(options);
}

class DiskOutputSink implements OutputSink {
  readonly #options: OutputSinkOptions;
  #spilled: SpilledOutput | undefined;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #takenBytes = 0;
  #writing: Promise<void> | undefined;
  #filter: ByteFilter | undefined;
  #failed = false;

  constructor(options: OutputSinkOptions) {
    this.#options = options;
  }

  push(chunk: Uint8Array): void | Promise<void> {
    const taken = chunk.subarray(0, this.#options.maxBytes - this.#takenBytes);
    if (this.#failed || taken.length === 0) return undefined;
    this.#waiting.push(taken);
    this.#waitingBytes += taken.length;
    this.#takenBytes += taken.length;
    if (this.#spilled === undefined && this.#takenBytes <= OUTPUT_LIMITS.headCharacters) return undefined;
    this.keep();
    return this.#waitingBytes > MOST_WAITING ? this.#writing : undefined;
  }

  keep(): void {
    if (this.#failed || this.#takenBytes === 0) return;
    try {
      this.#spilled ??= this.#options.create();
      if (this.#waiting.length > 0) this.#writing ??= this.#write(this.#spilled.file);
    } catch {
      this.#failed = true;
      this.#waiting = [];
    }
  }

  async end(): Promise<string | undefined> {
    if (this.#spilled === undefined) return undefined;
    await this.#writing;
    const { ref, file, discard } = this.#spilled;
    await this.#writeRest(file);
    file.close();
    if (this.#failed) discard();
    return this.#failed ? undefined : ref;
  }

  async #write(file: WritableOutput): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const chunks = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        await file.append(this.#hide(chunks));
      }
    } catch {
      this.#failed = true;
      this.#waiting = [];
    } finally {
      this.#writing = undefined;
    }
  }

  /** Filtered here, because most pushed bytes are never written. */
  #hide(chunks: readonly Uint8Array[]): readonly Uint8Array[] {
    this.#filter ??= this.#options.hide?.();
    const filter = this.#filter;
    if (filter === undefined) return chunks;
    return chunks.map((chunk) => filter.push(chunk)).filter(({ length }) => length > 0);
  }

  async #writeRest(file: WritableOutput): Promise<void> {
    const rest = this.#failed ? undefined : this.#filter?.end();
    if (rest === undefined || rest.length === 0) return;
    try {
      await file.append([rest]);
    } catch {
      this.#failed = true;
    }
  }
}
