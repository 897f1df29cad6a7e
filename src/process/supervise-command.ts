import { idleClock } from '../platform/clock.js';
import { readEnvironment } from '../platform/environment.js';
import { findShell } from '../platform/find-shell.js';
import { readProcess } from '../platform/proc-table.js';
import type { StartedProcess } from '../platform/spawn.js';
import { type HelperProcess, spawnHelper } from '../platform/spawn-helper.js';
import type { CommandMark } from './command-mark.js';
import { SUPERVISOR_PROGRAM } from './supervisor-program.js';

/**
 * Commands end with this program, also when it is killed with a signal that nobody can catch. A small shell beside us
 * is told what runs; when its input ends it ends what was running then. Returns what takes the command off the list.
 */
export function superviseCommand(
  { pid, seen, isLookedAfter }: StartedProcess,
  mark: CommandMark,
): () => void {
  const startTicks = seen?.startTicks ?? readProcess(pid)?.startTicks ?? 0;
  // Of the mark file's name only its number: `/dev/shm/#4711 (deleted)`.
  const file = /#(\d+)/.exec(mark.file?.name ?? '')?.[1] ?? '';
  const entry = `${pid}:${startTicks}:${mark.id}:${file}`;
  const add = (): void => {
    running.add(entry);
    tell();
  };
  // The spawn server ends its own commands too, only less thoroughly: most are over before that matters, and a word to
  // the supervisor costs a tenth of what a short command does.
  const forget = isLookedAfter === true ? idleClock.after(UNWATCHED_MS, add) : add();
  return () => {
    forget?.();
    if (running.delete(entry)) tell();
  };
}

const UNWATCHED_MS = 20;

const running = new Set<string>();
let supervisor: HelperProcess | undefined;

/** The whole list each time: the last line that came in full is what counts, whenever we end. */
function tell(): void {
  if (supervisor === undefined && running.size > 0) supervisor = start();
  supervisor?.write(`${[...running].join(' ')}\n`);
}

function start(): HelperProcess | undefined {
  const file = findShell('sh');
  if (file === undefined) return undefined;
  const helper = spawnHelper({
    file,
    args: ['-c', SUPERVISOR_PROGRAM, 'toolexec-supervisor'],
    env: helperEnvironment(),
    onGone() {
      // Somebody has ended it: the next one knows all that runs.
      if (supervisor !== helper) return;
      supervisor = undefined;
      if (running.size > 0) tell();
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
