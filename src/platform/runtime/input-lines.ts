import { type Readable, Transform } from 'node:stream';
import { WholeLines } from '../../base/whole-lines.js';

export interface InputLines {
  readonly stream: Readable;
  /** Stops reading, so that standard input keeps no process alive. */
  close(): void;
}

/**
 * Standard input in pieces that end with a line end, for a reader that handles incomplete lines slowly.
 * @param beforeEnd the reader learns of the end of the input when this has resolved
 */
export function openInputLines(mostBytes: number, beforeEnd: () => Promise<void>): InputLines {
  const { stdin } = process;
  const lines = new WholeLines(mostBytes);
  const stream = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => done(null, lines.take(chunk)),
    // First the reader gets what was passed on.
    flush: (done) => void setImmediate(() => beforeEnd().then(() => done(), done)),
  });
  stdin.on('error', (error) => stream.destroy(error));
  // A pipe reports the end of its input, but not that it was closed without an end.
  stdin.on('close', () => stream.end());
  stdin.pipe(stream);
  return {
    stream,
    close() {
      stdin.unpipe(stream);
      stdin.pause();
    },
  };
}
