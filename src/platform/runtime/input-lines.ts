import { type Readable, Transform } from 'node:stream';
import { WholeLines } from '../../base/whole-lines.js';

export interface InputLines {
  readonly stream: Readable;
  /** Reads no more, so that standard input keeps no process alive. */
  close(): void;
}

/** Standard input in pieces that end with a line, for a reader that is slow with parts of one. */
export function openInputLines(mostBytes: number): InputLines {
  const { stdin } = process;
  const lines = new WholeLines(mostBytes);
  const stream = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => done(null, lines.take(chunk)),
  });
  stdin.on('error', (error) => stream.destroy(error));
  // A pipe passes on the end, and not that it was closed without one.
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
