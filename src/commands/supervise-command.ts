import { readEnvironment } from '../platform/environment.js';
import { findShell } from '../platform/find-shell.js';
import { readProcess } from '../platform/proc-table.js';
import { type ListEntry, SharedList } from '../platform/shared-list.js';
import type { StartedProcess } from '../platform/spawn.js';
import { type HelperProcess, spawnHelper } from '../platform/spawn-helper.js';
import type { CommandMark } from './command-mark.js';
import { SUPERVISOR_PROGRAM } from './supervisor-program.js';

/** A command that the supervisor knows of. */
export interface Supervision {
  /** From now on its process is known too, not only its mark. */
  started(process: StartedProcess): void;
  /** It has ended, or was never started. */
  end(): void;
}

/**
 * Commands end with this program, also when it is killed with a signal that nobody can catch. A small shell beside us
 * has a list of what runs; when its input ends it ends what was running then. To be called before the command starts:
 * whatever comes of that, what carries its mark is found.
 */
export function superviseCommand({ id, file }: CommandMark): Supervision {
  // Of the mark file's name only its number: `/dev/shm/#4711 (deleted)`.
  const fileNumber = /#(\d+)/.exec(file?.name ?? '')?.[1] ?? '';
  const entryOf = (pid: number, startTicks: number): string => `${pid}:${startTicks}:${id}:${fileNumber}`;
  const entry = addToList(entryOf(0, 0));
  running++;
  if (list !== undefined) supervisor ??= start(list);
  return {
    started({ pid, seen }) {
      entry?.change(entryOf(pid, seen?.startTicks ?? readProcess(pid)?.startTicks ?? 0));
    },
    end() {
      entry?.remove();
      running--;
    },
  };
}

/** It starts again with the next command. Where one runs it goes on. Resolves when it is gone. */
export async function endSupervisor(): Promise<void> {
  const ending = supervisor;
  if (ending === undefined || running > 0) return;
  supervisor = undefined;
  await ending.end();
}

let running = 0;
let list: SharedList | undefined;
let supervisor: HelperProcess | undefined;

/** Undefined where nothing can be written: then a command ends with us as far as who has started it sees to it. */
function addToList(text: string): ListEntry | undefined {
  try {
    list ??= new SharedList();
    return list.add(text);
  } catch {
    return undefined;
  }
}

function start(known: SharedList): HelperProcess | undefined {
  const file = findShell('sh');
  if (file === undefined) return undefined;
  const helper = spawnHelper({
    file,
    args: ['-c', SUPERVISOR_PROGRAM, 'toolexec-supervisor'],
    env: helperEnvironment(),
    inherit: known.fd,
    onGone() {
      // Somebody has ended it: the next one reads the same list.
      if (supervisor === helper) supervisor = running > 0 ? start(known) : undefined;
    },
  });
  return helper;
}

/** It is part of the command that we are part of ourselves, if we are, and ends with it. */
function helperEnvironment(): Record<string, string> {
  const kept = Object.entries(readEnvironment()).filter(
    ([name]) => name === 'PATH' || name === 'TOOLEXEC_CALL',
  );
  return Object.fromEntries(kept);
}
