import { closeSync, writeSync } from 'node:fs';
import { unlinkQuietly } from '../fs/make-and-remove.js';
import { closeOutputs, type OpenedProcess } from './opened-process.js';
import type { ProcessStart } from './spawn.js';

/** A pipe that is open here, and has a name for who has the other end. */
export interface TakenPipe {
  readonly name: string;
  readonly fd: number;
}

export interface WaitingStart {
  /** How a process is started. */
  readonly open: (start: ProcessStart) => Promise<OpenedProcess> | undefined;
  /** A pipe that no other uses, open for both, without waiting. */
  readonly takePipe: () => TakenPipe | undefined;
}

/** Started ahead, it reads from its standard input what it shall do. It reads the end of that when this program ends. */
export interface WaitingProcess {
  readonly opened: OpenedProcess;
  /** To be called once. False: it was not told, and is dropped. */
  tell(order: string): boolean;
  /** It reads the end of its input without an order, and goes. Its number is never needed, which may be another's by now. */
  drop(): void;
}

/** Undefined where none can be started now. Rejects with the system's error. */
export function startWaiting(
  { open, takePipe }: WaitingStart,
  start: Omit<ProcessStart, 'input'>,
): Promise<WaitingProcess> | undefined {
  // As a reader of our own orders we never wait for the other one, and can write before it listens.
  const pipe = takePipe();
  if (pipe === undefined) return undefined;
  const { fd: order, name } = pipe;
  // The server opens it by our descriptor, and not again, which might be too late.
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
        // The pipe is full, which an order never fills: another process has it.
      }
      drop();
      return false;
    },
    drop,
  };
}
