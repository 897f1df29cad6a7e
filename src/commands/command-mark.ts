import { randomBytes } from 'node:crypto';
import { closeMarkFile, type MarkFile, openMarkFile } from '../platform/mark-file.js';

/** What everybody inherits whom a command starts, wherever they flee. */
export interface CommandMark {
  /** Stands in `TOOLEXEC_CALL`. */
  readonly id: string;
  readonly file: MarkFile | undefined;
  /** Once the command has ended: whoever starts it may open the file long after it was asked to. */
  close(): void;
}

export function createCommandMark(): CommandMark {
  const { id, file } = next ?? makeMark();
  next = undefined;
  return {
    id,
    file,
    close() {
      if (file !== undefined) closeMarkFile(file);
      // Not now: somebody waits for the result.
      setImmediate(() => {
        next ??= makeMark();
      }).unref();
    },
  };
}

/** Made when a command has ended, for the next one, which waits for as little as possible. */
let next: Pick<CommandMark, 'id' | 'file'> | undefined;

function makeMark(): Pick<CommandMark, 'id' | 'file'> {
  return { id: randomBytes(12).toString('hex'), file: openMarkFile() };
}

/** What `TOOLEXEC_CALL` says. A command of a command carries both marks: it belongs to both. */
export function markFor(env: Readonly<Record<string, string>>, mark: CommandMark): string {
  const outer = env.TOOLEXEC_CALL;
  return outer === undefined ? mark.id : `${outer}:${mark.id}`;
}
