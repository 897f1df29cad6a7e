import { closeSync, writeSync } from 'node:fs';
import { unlinkQuietly } from '../fs/make-and-remove.js';
import { closeOutputs, type OpenedProcess } from './opened-process.js';
import type { ProcessStart } from './spawn.js';

/** A pipe that is open here, with a name for the process at the other end. */
export interface TakenPipe {
  readonly name: string;
  readonly fd: number;
}

export interface WaitingStart {
  /** Starts the process. */
  readonly open: (start: ProcessStart) => Promise<OpenedProcess> | undefined;
  /** An unused pipe, opened for both directions without waiting. */
  readonly takePipe: () => TakenPipe | undefined;
}

/**
 * A process that was started ahead and reads its order from its standard input. That input ends together with
 * this program.
 */
export interface WaitingProcess {
  readonly opened: OpenedProcess;
  /** Call it once. False: the order was not sent, and the process is dropped. */
  tell(order: string): boolean;
  /**
   * Ends its input without an order, so it exits. Its process number is never needed, which is good, because
   * another process may have it by now.
   */
  drop(): void;
}

/** Undefined if none can be started now. Rejects with the system's error. */
export function startWaiting(
  { open, takePipe }: WaitingStart,
  start: Omit<ProcessStart, 'input'>,
): Promise<WaitingProcess> | undefined {
  // We also hold a reading end, so we never wait for the other process and can write before it reads.
  const pipe = takePipe();
  if (pipe === undefined) return undefined;
  const { fd: order, name } = pipe;
  // The server opens it by our descriptor, not by its name, which may be gone by then.
  unlinkQuietly(name);
  const opening = open({ ...start, input: order });
  if (opening === undefined) closeSync(order);
  return opening?.then(
    (opened) => waitingProcess(opened, order),
    (error: unknown) => {
      closeSync(order);
      throw error;
    },
  );
}

function waitingProcess(opened: OpenedProcess, order: number): WaitingProcess {
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(order);
    isOpen = false;
  };
  const drop = (): void => {
    close();
    closeOutputs(opened);
  };
  return {
    opened,
    tell(text) {
      const bytes = Buffer.from(text, 'utf8');
      try {
        if (isOpen && writeSync(order, bytes) === bytes.length) {
          close();
          return true;
        }
      } catch {
        // The pipe is full. An order never fills it, so another process has it.
      }
      drop();
      return false;
    },
    drop,
  };
}
