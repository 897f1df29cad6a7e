import type { Readable } from 'node:stream';
import type { CommandRequest } from '../contract/processes.js';
import { systemClock } from '../platform/clock/clock.js';

export interface OutputPump {
  /** Resolves with what `onOutput` threw, if it ever does. */
  readonly failed: Promise<unknown>;
  /** Resolves when both streams have ended. */
  readonly ended: Promise<void>;
  /** The same, without a turn. */
  isEnded(): boolean;
  /** From now on no promise of `onOutput` is waited for. */
  hurry(): void;
  /** Chunks that came so far. */
  count(): number;
}

/** Takes bytes; must be done with a chunk when it returns. */
export interface ByteSink {
  push(chunk: Uint8Array): void;
}

export interface OutputStreams {
  readonly stdout: { readonly source: Readable; readonly sink: ByteSink };
  readonly stderr: { readonly source: Readable; readonly sink: ByteSink };
}

/**
 * Moves what a command writes to where it is kept and to `onOutput`. While a promise of `onOutput` is pending nothing
 * is read from either stream, so the command stops at its full pipes.
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
      // A broken pipe ends the stream: what came before it counts.
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
  /** Without a chunk for so long, what is still open is held by a process that has nothing to say. */
  readonly quietMs: number;
  readonly limitMs: number;
}

/**
 * Reads what is in the pipes after the command itself has ended. Their end says that all was read, but a process that
 * the command left running may keep it from ever coming (D107).
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
    // Where the program was busy for so long, the timer is served before the pipes are: so look again when both had their turn.
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
