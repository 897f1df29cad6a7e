import { systemClock } from '../platform/clock/clock.js';
import {
  lastProcessId,
  listChildren,
  listOpenFiles,
  listProcessIds,
  ownProcessId,
  type ProcessEntry,
  readProcess,
} from '../platform/process/proc-table.js';
import { type SignalName, sendSignal } from '../platform/process/send-signal.js';
import type { StartedProcess } from '../platform/process/spawn.js';
import { type CommandMark, processMarks } from './command-mark.js';

/**
 * All processes that a command started, searched again on each call. A process belongs to the command if one
 * of these is known:
 *
 * 1. it is in the session that was created for the command,
 * 2. its parent, or the leader of its session, belongs to the command,
 * 3. it was seen as a descendant earlier (same number, same start time),
 * 4. it was started with the command's mark in its environment (this survives `setsid` and double forks),
 * 5. it has the command's mark file or one of the command's pipes open (this survives a cleared environment
 *   too).
 *
 * Processes that started before the command never belong to it, and neither do init and this process.
 */
export interface CommandTree {
  /** Remembers the current descendants. Later their parents may be gone. */
  remember(): void;
  /** The number of processes at the last `remember`. */
  count(): number;
  /** The processes that are alive. Blocks for 1 to 2 ms on a machine with 200 processes. */
  find(): readonly ProcessEntry[];
  /**
   * The processes that were started since the last search. This is much quicker, because a tree that flees
   * forks once a millisecond.
   */
  findNew(): readonly ProcessEntry[];
  /** The `members` that are still alive, and the processes that were started since the last search. */
  recheck(members: readonly ProcessEntry[]): readonly ProcessEntry[];
  /**
   * False if no process was started on the machine since the last search, so none can be left. Costs 20 µs.
   */
  mayHaveOthers(): boolean;
  /** The command's terminal has another size. */
  resized(): void;
  /** Signals all `members` and their process groups, if those belong to the command. */
  signal(members: readonly ProcessEntry[], signal: SignalName): void;
}

/**
 * Call it in the tick in which the start of the command became known. Later its number may belong to another
 * process, unless the caller knows the earlier state.
 */
export function createCommandTree(
  command: Pick<StartedProcess, 'pid' | 'seen'>,
  mark: CommandMark,
  isSandboxed = false,
): CommandTree {
  const tree = createTree(command, mark);
  return isSandboxed ? sparingItsLeader(tree, command.pid) : tree;
}

/**
 * The leader, a process of the sandbox, is killed and never asked to end: when it ends, all processes inside
 * end without a grace period.
 */
function sparingItsLeader(tree: CommandTree, leader: number): CommandTree {
  return {
    ...tree,
    resized: () => tree.signal(tree.find(), 'SIGWINCH'),
    signal(members, signal) {
      tree.signal(signal === 'SIGKILL' ? members : members.filter(({ pid }) => pid !== leader), signal);
    },
  };
}

function createTree({ pid, seen }: Pick<StartedProcess, 'pid' | 'seen'>, mark: CommandMark): CommandTree {
  if (seen !== undefined) {
    const { startTicks, after, outputs } = seen;
    return createMarkedTree({ leader: sessionLeader(pid, startTicks), after, files: outputs, mark });
  }
  const leader = readProcess(pid);
  if (leader === undefined) return createGroupTree(pid);
  // The pipes of a dead leader cannot be read. Its mark file is known anyway.
  const pipes = listOpenFiles(pid, ['1', '2']).filter((name) => name.startsWith('socket:'));
  return createMarkedTree({ leader, files: pipes, mark });
}

function sessionLeader(pid: number, startTicks: number): ProcessEntry {
  return { pid, parent: 0, group: pid, session: pid, startTicks, alive: true };
}

interface MarkedTree {
  readonly leader: ProcessEntry;
  /** The last process number assigned before the command began. */
  readonly after?: number | undefined;
  readonly files: readonly string[];
  readonly mark: CommandMark;
}

function createMarkedTree({ leader, after = leader.pid, files: pipes, mark }: MarkedTree): CommandTree {
  const files = new Set(mark.file === undefined ? pipes : [...pipes, mark.file.name]);
  const known = new Map<number, ProcessEntry>([[leader.pid, leader]]);
  const sessions = new Set([leader.pid]);
  const startedAt = systemClock.monotonic();
  let lastSeen = after;

  function isDescendant(entry: ProcessEntry, members: ReadonlyMap<number, ProcessEntry>): boolean {
    return sessions.has(entry.session) || members.has(entry.parent) || isSame(entry, known.get(entry.pid));
  }

  function isMarked(entry: ProcessEntry): boolean {
    // A zombie no longer has a mark, and its children have another parent.
    if (!entry.alive) return false;
    const marks = processMarks(entry);
    return marks.call.includes(mark.id) || marks.files.some((name) => files.has(name));
  }

  function look(pids: readonly number[]): ProcessEntry[] {
    const strangers = startedSince(leader, pids);
    const members = new Map<number, ProcessEntry>();
    let found: ProcessEntry[];
    do {
      found = takeOut(strangers, (entry) => isDescendant(entry, members));
      // Last, because this look-up is expensive.
      if (found.length === 0) found = takeOut(strangers, isMarked);
      for (const entry of found) {
        members.set(entry.pid, entry);
        known.set(entry.pid, entry);
        if (entry.pid === entry.session) sessions.add(entry.session);
      }
    } while (found.length > 0);
    return [...members.values()].filter((entry) => entry.alive);
  }

  function findAll(): ProcessEntry[] {
    const last = lastProcessId() ?? 0;
    lastSeen = last;
    // Numbers are assigned in order: those of a young command lie between its own number and the last one, so
    // few need a look. At the top of the range they start again, and after some time they may reach the same
    // number.
    const isYoung = systemClock.monotonic() - startedAt < YOUNG_MS && last >= after;
    if (isYoung && last - after < FEW) return look([leader.pid, ...numbersAfter(after, last)]);
    const ids = listProcessIds();
    return look(isYoung ? ids.filter((pid) => pid === leader.pid || (pid > after && pid <= last)) : ids);
  }

  function findNew(): ProcessEntry[] {
    const last = lastProcessId() ?? 0;
    const pids = numbersAfter(lastSeen, last);
    lastSeen = last;
    return look(pids);
  }

  const tree: CommandTree = {
    resized: () => tree.signal(tree.find(), 'SIGWINCH'),
    remember() {
      for (const [pid, entry] of known) {
        if (!isSame(entry, readProcess(pid))) known.delete(pid);
      }
      // The map grows during the loop: children of children are visited in the same round.
      for (const pid of known.keys()) {
        for (const child of listChildren(pid)) {
          const entry = known.has(child) ? undefined : readProcess(child);
          if (entry !== undefined) known.set(child, entry);
        }
      }
    },
    count: () => known.size,
    find() {
      let found = findAll();
      // A process that died during the search may have left a child that was started too late for it.
      for (let again = 0; again < 5 && found.length === 0 && lastProcessId() !== lastSeen; again++) {
        found = findNew();
      }
      return found;
    },
    findNew,
    recheck: (members) => [...members.flatMap(readAgain), ...findNew()],
    mayHaveOthers: () => lastProcessId() !== after,
    signal(members, signal) {
      // Read again: the number may belong to another process by now, and `setsid` leaves the group.
      const current = members.flatMap(readAgain);
      // A whole group is signalled at once. Otherwise a process that forks would always be a step ahead.
      const groups = new Set(
        current.filter(({ session }) => sessions.has(session)).map(({ group }) => group),
      );
      for (const group of groups) sendSignal(-group, signal);
      for (const { pid, group } of current) {
        if (!groups.has(group)) sendSignal(pid, signal);
      }
    },
  };
  return tree;
}

/** For systems without `/proc`: the process group, without processes that have left it. */
function createGroupTree(leaderPid: number): CommandTree {
  const leader = sessionLeader(leaderPid, 0);
  return {
    resized: () => {
      sendSignal(-leaderPid, 'SIGWINCH');
    },
    remember() {},
    count: () => 1,
    find: () => (sendSignal(-leaderPid, 0) === 'gone' ? [] : [leader]),
    findNew: () => [],
    recheck: (members) => (sendSignal(-leaderPid, 0) === 'gone' ? [] : members),
    mayHaveOthers: () => true,
    signal: (_members, signal) => sendSignal(-leaderPid, signal),
  };
}

function startedSince(leader: ProcessEntry, pids: readonly number[]): Set<ProcessEntry> {
  const entries = new Set<ProcessEntry>();
  for (const pid of pids) {
    const entry = pid === 1 || pid === ownProcessId ? undefined : readProcess(pid);
    if (entry !== undefined && entry.startTicks >= leader.startTicks) entries.add(entry);
  }
  return entries;
}

/** No machine starts 32,768 processes, the smallest range of numbers, in this time. */
const YOUNG_MS = 1000;

/** Up to this count, single look-ups cost less than a list of all processes. */
const FEW = 100;

function numbersAfter(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first) }, (_, index) => last - index);
}

function takeOut(entries: Set<ProcessEntry>, belongs: (entry: ProcessEntry) => boolean): ProcessEntry[] {
  const found = [...entries].filter(belongs);
  for (const entry of found) entries.delete(entry);
  return found;
}

/** The current state of the process; empty if it is dead. */
function readAgain(entry: ProcessEntry): ProcessEntry[] {
  const now = readProcess(entry.pid);
  return now?.alive === true && isSame(entry, now) ? [now] : [];
}

function isSame(one: ProcessEntry, other: ProcessEntry | undefined): boolean {
  return other !== undefined && one.pid === other.pid && one.startTicks === other.startTicks;
}
