import { closeSync, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { decodeText, tooLarge, toReadFailure } from '../fs/read-file.js';

/** A stream that a program writes text to. */
export interface TextOutput {
  readonly isTerminal: boolean;
  /** Lines of the terminal; 24 if not known (a new terminal may report 0). */
  readonly rows: number;
  /** Columns of the terminal; 80 if not known. */
  readonly columns: number;
  /** Calls `handle` when the size of the terminal changes. The returned function ends that. */
  onResize(handle: () => void): () => void;
  /** Never throws; a reader that has disconnected is not an error. */
  write(text: string): void;
  /** Resolves when a write found that the reader has disconnected. */
  readonly readerGone: Promise<void>;
  /**
   * Resolves when everything written has been passed to the system. @throws the system's error, except that
   * the reader is gone.
   */
  flushed(): Promise<void>;
}

/** The process's standard streams, arguments and signals. Only this module uses them. */
export interface Stdio {
  readonly args: readonly string[];
  readonly stdin: {
    readonly isTerminal: boolean;
    /**
     * Reads all of standard input. @param keepMark whether a byte order mark is part of the text; default
     * false. @throws ReadFailure
     */
    readText(maxBytes: number, keepMark?: boolean): Promise<string>;
    /** Like `readText`, but it stops after one JSON object, because some agents never close their input. */
    readDocument(maxBytes: number): Promise<string>;
  };
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** When the process is asked to end, calls `handle` instead of ending. The returned function stops that. */
  onEndSignal(handle: () => void): () => void;
  /** Does what Ctrl-C does, for a terminal that delivers it as a key. */
  interrupt(): void;
}

/**
 * Node's own streams are opened only if they are needed, because loading and opening them takes 5 ms: for a terminal,
 * and for a pipe that another process has made non-blocking.
 */
export function openStdio(): Stdio {
  return {
    args: process.argv.slice(2),
    stdin: {
      isTerminal: isTerminal(0),
      readText: (maxBytes, keepMark = false) => readStdin({ maxBytes, keepMark, isWhole: () => false }),
      readDocument: (maxBytes) => readStdin({ maxBytes, keepMark: false, isWhole: isJsonObject }),
    },
    stdout: textOutput(1, () => process.stdout),
    stderr: textOutput(2, () => process.stderr),
    onEndSignal,
    interrupt: () => process.kill(process.pid, 'SIGINT'),
  };
}

/**
 * If the terminal of this process has gone, ends the process by the signal of a lost terminal. Node would crash when it
 * exits: it resets the modes of the terminals that it started with, and takes a failure for a bug.
 */
export function endWithTerminal({ stdin, stdout, stderr }: Pick<Stdio, 'stdin' | 'stdout' | 'stderr'>): void {
  const isGone = [stdin, stdout, stderr].some((stream, fd) => stream.isTerminal && !isTerminal(fd));
  if (!isGone || process.platform === 'win32') return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** Whether another program reads standard output, as in `toolexec … | less`. */
export const isPiped = (): boolean => fstatSync(1).isFIFO();

/** Ends the input of the program that reads standard output. Later writes are dropped. */
export function endOutput(): void {
  closeSync(1);
  // The next file that is opened would get a free descriptor.
  openSync(devNull, 'w');
}

/** `node:tty` is loaded only for a device other than `/dev/null`, because it also loads the network module. */
function isTerminal(fd: number): boolean {
  const stats = fstatSync(fd);
  if (!stats.isCharacterDevice() || stats.rdev === nullDevice()) return false;
  return process.getBuiltinModule('node:tty').isatty(fd);
}

/** Undefined on a system without `/dev/null`. */
function nullDevice(): number | undefined {
  return statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
}

interface InputReading {
  readonly maxBytes: number;
  readonly keepMark: boolean;
  /** Whether nothing is missing from the input so far. */
  readonly isWhole: (chunks: readonly Uint8Array[]) => boolean;
}

async function readStdin({ maxBytes, keepMark, isWhole }: InputReading): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  /** @returns whether there is more to read */
  const take = (bytes: Uint8Array): boolean => {
    total += bytes.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    chunks.push(bytes);
    return !isWhole(chunks);
  };
  try {
    if (!readAtOnce(take)) for await (const chunk of process.stdin) if (!take(chunk)) break;
    return decodeText(Buffer.concat(chunks), keepMark);
  } catch (error) {
    throw toReadFailure(error);
  }
}

function isJsonObject(chunks: readonly Uint8Array[]): boolean {
  const last = Buffer.from(chunks.at(-1) ?? []);
  if (!/\}\s*$/.test(last.toString('latin1', Math.max(0, last.length - 8)))) return false;
  try {
    return typeof JSON.parse(Buffer.concat(chunks).toString('utf8')) === 'object';
  } catch {
    return false;
  }
}

const CHUNK_BYTES = 65_536;

/** Reads standard input to its end. @returns false if the rest must be read as a stream */
function readAtOnce(take: (bytes: Uint8Array) => boolean): boolean {
  // A person who types must be able to interrupt.
  if (isTerminal(0)) return false;
  for (;;) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let count = 0;
    try {
      count = readSync(0, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') return false;
      // Windows reports the end of a pipe in this way.
      if (code !== 'EOF') throw error;
    }
    if (count === 0 || !take(chunk.subarray(0, count))) return true;
  }
}

function textOutput(fd: 1 | 2, open: () => NodeJS.WriteStream): TextOutput {
  let failure: Error | undefined;
  let last: Promise<void> = Promise.resolve();
  let tellGone = (): void => {};
  const readerGone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  // The reader, for example `head`, has read enough and has exited.
  const note = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') tellGone();
    else failure ??= error;
  };
  let opened: NodeJS.WriteStream | undefined;
  const stream = (): NodeJS.WriteStream => {
    opened ??= open().on('error', note);
    return opened;
  };
  const isShown = isTerminal(fd);
  return {
    isTerminal: isShown,
    readerGone,
    get rows() {
      return (isShown && stream().rows) || 24;
    },
    get columns() {
      return (isShown && stream().columns) || 80;
    },
    onResize(handle) {
      if (!isShown) return () => {};
      stream().on('resize', handle);
      return () => {
        stream().removeListener('resize', handle);
      };
    },
    write(text) {
      const rest = isShown || opened !== undefined ? Buffer.from(text) : writeAtOnce(fd, text, note);
      if (rest.length === 0) return;
      // A stream calls back in the order of its writes, so the last callback covers all of them.
      last = new Promise((resolve) => {
        stream().write(rest, (error) => {
          if (error) note(error);
          resolve();
        });
      });
    },
    async flushed() {
      await last;
      if (failure !== undefined) throw failure;
    },
  };
}

/**
 * Node's stream also writes synchronously to a file or a pipe. @returns the part that a non-blocking pipe did not
 * accept
 */
function writeAtOnce(fd: number, text: string, note: (error: NodeJS.ErrnoException) => void): Uint8Array {
  let rest: Uint8Array = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (error) {
    const failed = error as NodeJS.ErrnoException;
    if (failed.code !== 'EAGAIN') {
      note(failed);
      return new Uint8Array();
    }
  }
  return rest;
}

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function onEndSignal(handle: () => void): () => void {
  for (const signal of END_SIGNALS) process.on(signal, handle);
  return () => {
    for (const signal of END_SIGNALS) process.removeListener(signal, handle);
  };
}
