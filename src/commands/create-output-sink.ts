import type { OutputSink } from '../contract/outputs.js';
import type { WritableOutput } from '../platform/output-directory.js';

export interface OutputSinkOptions {
  /** Bytes that are written; what comes after them is not kept. */
  readonly maxBytes: number;
  /** Called with the first bytes that must be kept: most commands print little. */
  readonly create: () => SpilledOutput;
  /** Made with the first bytes that are written. Left out: they are written as they come. */
  readonly hide?: (() => ByteFilter) | undefined;
}

/** Takes out what must not lie on a disk. What may be the beginning of it waits for what comes next. */
export interface ByteFilter {
  push(bytes: Uint8Array): Uint8Array;
  end(): Uint8Array;
}

/** An output on its way to the disk. */
export interface SpilledOutput {
  readonly ref: string;
  readonly file: WritableOutput;
  /** Called when what was written cannot be trusted. */
  readonly discard: () => void;
}

/** No tool shows more than this uncut: only what is longer is worth a file. */
const HELD_BYTES = 30_000;
/** Bytes that wait to be written before who pushes is asked to wait too. */
const MOST_WAITING = 4 * 1024 * 1024;

/** Writes in the background, in order, with bounded memory. That the disk refuses is no failure of who pushes. */
export function createOutputSink(options: OutputSinkOptions): OutputSink {
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
    if (this.#spilled === undefined && this.#takenBytes <= HELD_BYTES) return undefined;
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

  /** Here and not where they come: most of what is pushed is never written. */
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
