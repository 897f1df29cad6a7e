import { randomBytes } from 'node:crypto';
import { systemClock } from '../platform/clock/clock.js';
import { closeMarkFile, type MarkFile, openMarkFile } from '../platform/process/mark-file.js';
import { listOpenFiles, type ProcessEntry, readEnvironmentOf } from '../platform/process/proc-table.js';

/** A mark that every process of a command inherits. */
export interface CommandMark {
  /** The value in `TOOLEXEC_CALL`. */
  readonly id: string;
  readonly file: MarkFile | undefined;
  /** Call it when the command has ended: it may open the file long after it was started. */
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
      // Later, because the caller waits for the result.
      setImmediate(() => {
        next ??= makeMark();
      }).unref();
    },
  };
}

/** Created after a command for the next one, which then starts faster. */
let next: Pick<CommandMark, 'id' | 'file'> | undefined;

function makeMark(): Pick<CommandMark, 'id' | 'file'> {
  return { id: randomBytes(12).toString('hex'), file: openMarkFile() };
}

/** The value of `TOOLEXEC_CALL`. A command inside a command carries both marks. */
export function markFor(env: Readonly<Record<string, string>>, mark: CommandMark): string {
  const outer = env.TOOLEXEC_CALL;
  return outer === undefined ? mark.id : `${outer}:${mark.id}`;
}

/** The evidence for the owner of a process: its environment at the start, and its open files. */
interface ProcessMarks {
  /** The value of `TOOLEXEC_CALL`; empty if it is not readable, or the process is just being replaced. */
  readonly call: string;
  readonly files: readonly string[];
}

/**
 * The marks of a process. Commands that end at the same time all examine the same processes, so results are
 * cached: a process never gets a new mark after its start.
 */
export function processMarks({ pid, startTicks }: ProcessEntry): ProcessMarks {
  const now = systemClock.monotonic();
  const known = seen.get(pid);
  if (known !== undefined && known.startTicks === startTicks && now - known.at < KEPT_MS) return known.marks;
  const environment = readEnvironmentOf(pid);
  const marks = { call: callIn(environment), files: listOpenFiles(pid).filter((name) => MARK.test(name)) };
  if (seen.size > MOST_KEPT) seen.clear();
  // A process without marks may still be starting.
  if (environment.length > 0) seen.set(pid, { startTicks, at: now, marks });
  return marks;
}

const KEPT_MS = 3000;
const MOST_KEPT = 20_000;

/** Pipes and mark files; other open files are not marks. */
const MARK = /^socket:|toolexec-pipes-|\/#\d/;

const NAME = Buffer.from('TOOLEXEC_CALL=');

function callIn(environment: Buffer): string {
  const at = environment.indexOf(NAME);
  if (at === -1) return '';
  const end = environment.indexOf(0, at);
  return environment.toString('latin1', at + NAME.length, end === -1 ? environment.length : end);
}

const seen = new Map<
  number,
  { readonly startTicks: number; readonly at: number; readonly marks: ProcessMarks }
>();
