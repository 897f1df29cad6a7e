import { isatty } from 'node:tty';
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
  /** Never throws; it is not an error if the reader is gone. */
  write(text: string): void;
  /** Resolves when something was written and the reader is gone. */
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
  };
  readonly stdout: TextOutput;
  readonly stderr: TextOutput;
  /** When the process is asked to end, calls `handle` instead of ending. The returned function stops that. */
  onEndSignal(handle: () => void): () => void;
  /** Does what Ctrl-C does, for a terminal that delivers it as a key. */
  interrupt(): void;
}

export function openStdio(): Stdio {
  return {
    args: process.argv.slice(2),
    // Found from the descriptor: standard input itself is opened only when it is read.
    stdin: { isTerminal: isatty(0), readText: readStdin },
    stdout: textOutput(process.stdout),
    stderr: textOutput(process.stderr),
    onEndSignal,
    interrupt: () => process.kill(process.pid, 'SIGINT'),
  };
}

async function readStdin(maxBytes: number, keepMark = false): Promise<string> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of process.stdin) {
      const bytes: Uint8Array = chunk;
      total += bytes.length;
      if (total > maxBytes) throw tooLarge(maxBytes);
      chunks.push(bytes);
    }
    return decodeText(Buffer.concat(chunks), keepMark);
  } catch (error) {
    throw toReadFailure(error);
  }
}

function textOutput(stream: NodeJS.WriteStream): TextOutput {
  let failure: Error | undefined;
  let last: Promise<void> = Promise.resolve();
  let tellGone = (): void => {};
  const readerGone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  // The reader, for example `head`, has read enough and is gone.
  const note = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EPIPE') tellGone();
    else failure ??= error;
  };
  stream.on('error', note);
  return {
    isTerminal: stream.isTTY === true,
    readerGone,
    get rows() {
      return stream.rows || 24;
    },
    get columns() {
      return stream.columns || 80;
    },
    onResize(handle) {
      stream.on('resize', handle);
      return () => {
        stream.removeListener('resize', handle);
      };
    },
    write(text) {
      if (text === '') return;
      // A stream calls back in the order of its writes, so the last callback stands for all of them.
      last = new Promise((resolve) => {
        stream.write(text, (error) => {
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

const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function onEndSignal(handle: () => void): () => void {
  for (const signal of END_SIGNALS) process.on(signal, handle);
  return () => {
    for (const signal of END_SIGNALS) process.removeListener(signal, handle);
  };
}
