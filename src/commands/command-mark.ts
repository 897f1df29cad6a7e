import { randomBytes } from 'node:crypto';
import { systemClock } from '../platform/clock/clock.js';
import { closeMarkFile, type MarkFile, openMarkFile } from '../platform/process/mark-file.js';
import { listOpenFiles, type ProcessEntry, readEnvironmentOf } from '../platform/process/proc-table.js';

/** What every process of a command inherits, wherever it flees. */
export interface CommandMark {
  /** Stands in `TOOLEXEC_CALL`. */
  readonly id: string;
  readonly file: MarkFile | undefined;
  /** Once the command has ended: what starts it may open the file long after it was asked to. */
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
      // Not now: the caller waits for the result.
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

/** What shows to whom a process belongs: what it was started with, and what it has open. */
interface ProcessMarks {
  /** What `TOOLEXEC_CALL` says; empty when we may not look, or the process is just being replaced. */
  readonly call: string;
  readonly files: readonly string[];
}

/**
 * The marks of a process. Many commands that end at once all look at the same processes, and those that flee grow more
 * meanwhile, so what was seen is kept: no process gets a mark later that it had not when it started.
 */
export function processMarks({ pid, startTicks }: ProcessEntry): ProcessMarks {
  const now = systemClock.monotonic();
  const known = seen.get(pid);
  if (known !== undefined && known.startTicks === startTicks && now - known.at < KEPT_MS) return known.marks;
  const environment = readEnvironmentOf(pid);
  const marks = { call: callIn(environment), files: listOpenFiles(pid).filter((name) => MARK.test(name)) };
  if (seen.size > MOST_KEPT) seen.clear();
  // One that shows nothing yet may be in the middle of its start.
  if (environment.length > 0) seen.set(pid, { startTicks, at: now, marks });
  return marks;
}

const KEPT_MS = 3000;
const MOST_KEPT = 20_000;

/** Pipes and mark files; what else a process has open is no mark. */
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
