import { randomBytes } from 'node:crypto';
import { closeMarkFile, type MarkFile, openMarkFile } from '../platform/mark-file.js';

/** What everybody inherits whom a command starts, wherever they flee. */
export interface CommandMark {
  /** Stands in `TOOLEXEC_CALL`. */
  readonly id: string;
  readonly file: MarkFile | undefined;
  /** Ours may be closed as soon as the command has it. */
  close(): void;
}

export function createCommandMark(): CommandMark {
  const file = openMarkFile();
  return {
    id: randomBytes(12).toString('hex'),
    file,
    close() {
      if (file !== undefined) closeMarkFile(file);
    },
  };
}

/** A command of a command carries both marks: it belongs to both. */
export function withMark(env: Readonly<Record<string, string>>, mark: CommandMark): Record<string, string> {
  const outer = env.TOOLEXEC_CALL;
  return { ...env, TOOLEXEC_CALL: outer === undefined ? mark.id : `${outer}:${mark.id}` };
}
