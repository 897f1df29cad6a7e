import type { Readable } from 'node:stream';
import type { CommandRequest } from '../contract/processes.js';
import { systemClock } from '../platform/clock/clock.js';

export interface OutputPump {
  /** Resolves with an error of `onOutput`, if there is one. */
  readonly failed: Promise<unknown>;
  /** Resolves when both streams have ended. */
  readonly ended: Promise<void>;
  /** The same without waiting. */
  isEnded(): boolean;
  /** Stops waiting for promises of `onOutput`. */
  hurry(): void;
  /** The number of chunks so far. */
  count(): number;
}

/** Receives bytes; it must be done with a chunk when it returns. */
export interface ByteSink {
  push(chunk: Uint8Array): void;
}

export interface OutputStreams {
  readonly stdout: { readonly source: Readable; readonly sink: ByteSink };
  readonly stderr: { readonly source: Readable; readonly sink: ByteSink };
}

/**
 * Passes a command's output to the kept bytes and to `onOutput`. While a promise of `onOutput` is pending,
 * neither stream is read, so the command blocks on its full pipes.
 */
export function pumpOutput(streams: OutputStreams, onOutput: CommandRequest['onOutput']): OutputPump {
  const { stdout, stderr } = streams;
  let chunks = 0;
  let waits = true;
  let isEnded = false;
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<unknown>((resolve) => {
    fail = resolve;
  });

  function resume(): void {
    stdout.source.resume();
    stderr.source.resume();
  }

  function pauseUntil(shown: Promise<void>): void {
    stdout.source.pause();
    stderr.source.pause();
    shown.then(resume, fail);
  }

  function show(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    try {
      const shown = onOutput?.(stream, chunk);
      if (!(shown instanceof Promise)) return;
      if (waits) pauseUntil(shown);
      else shown.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  function pump(stream: 'stdout' | 'stderr'): Promise<void> {
    const { source, sink } = streams[stream];
    source.on('data', (chunk: Buffer) => {
      chunks++;
      sink.push(chunk);
      if (onOutput !== undefined) show(stream, chunk);
    });
    return new Promise((resolve) => {
      source.once('close', resolve);
      source.once('end', resolve);
      // A broken pipe ends the stream; earlier output counts.
      source.on('error', () => resolve());
    });
  }

  return {
    failed,
    ended: Promise.all([pump('stdout'), pump('stderr')]).then(() => {
      isEnded = true;
    }),
    isEnded: () => isEnded,
    hurry() {
      waits = false;
      resume();
    },
    count: () => chunks,
  };
}

interface DrainTimes {
  /** After this time without a chunk, a silent process is holding the pipe. */
  readonly quietMs: number;
  readonly limitMs: number;
}

/**
 * Reads the rest of the pipes after the command has ended. Their end confirms that everything was read, but a
 * remaining process may keep them open forever (D107).
 */
export function drainOutput(
  output: OutputPump,
  { quietMs, limitMs }: DrainTimes = { quietMs: 50, limitMs: 250 },
): Promise<void> {
  output.hurry();
  const start = systemClock.monotonic();
  return new Promise((resolve) => {
    let seen = output.count();
    let stop = systemClock.after(quietMs, look);
    // If the program was busy, the timer fires before the pipes are read, so check again after both had a
    // turn.
    function look(): void {
      setImmediate(check);
    }
    function check(): void {
      const quiet = output.count() === seen;
      const late = systemClock.monotonic() - start > limitMs;
      seen = output.count();
      if (quiet || late) resolve();
      else stop = systemClock.after(quietMs, look);
    }
    void output.ended.then(() => {
      stop();
      resolve();
    });
  });
}
