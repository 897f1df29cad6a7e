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
 * All that a command started, found again at each look. A process belongs to it on evidence only:
 *
 * 1. it is in the session that was made for the command,
 * 2. its parent, or the leader of its session, belongs to it,
 * 3. it was seen as a descendant earlier (same number, same start),
 * 4. it was started with the command's mark in its environment (survives `setsid` and double forks),
 * 5. it has the command's mark file or one of its pipes open (survives a cleared environment too).
 *
 * What started before the command never belongs to it, and neither do init and we ourselves.
 */
export interface CommandTree {
  /** Remembers the descendants of now, for the time when their parents are gone. */
  remember(): void;
  /** How many were there at the last `remember`. */
  count(): number;
  /** Who is alive. Blocks for 1 to 2 ms on a machine with 200 processes. */
  find(): readonly ProcessEntry[];
  /** Who has come since the last look, which is much quicker: who flees by forking does so once a millisecond. */
  findNew(): readonly ProcessEntry[];
  /** Who of `members` is still alive, and who has come since the last look. */
  recheck(members: readonly ProcessEntry[]): readonly ProcessEntry[];
  /** False when nothing was started on the machine since: then none can be left. Costs 20 µs. */
  mayHaveOthers(): boolean;
  /** The terminal that it is attached to has another size. */
  resized(): void;
  /** Signals everyone in `members`, and what is in a group of ours. */
  signal(members: readonly ProcessEntry[], signal: SignalName): void;
}

/**
 * Must be called in the tick that learned of the command's start: later its number may be another's, unless it
 * says itself what it was.
 */
export function createCommandTree(
  command: Pick<StartedProcess, 'pid' | 'seen'>,
  mark: CommandMark,
  isSandboxed = false,
): CommandTree {
  const tree = createTree(command, mark);
  return isSandboxed ? sparingItsLeader(tree, command.pid) : tree;
}

/** What stands around a command is killed, and not asked: when it goes, all inside are gone without a grace. */
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
  // Those of a leader that is dead by now cannot be read; the mark file is known all the same.
  const pipes = listOpenFiles(pid, ['1', '2']).filter((name) => name.startsWith('socket:'));
  return createMarkedTree({ leader, files: pipes, mark });
}

function sessionLeader(pid: number, startTicks: number): ProcessEntry {
  return { pid, parent: 0, group: pid, session: pid, startTicks, alive: true };
}

interface MarkedTree {
  readonly leader: ProcessEntry;
  /** The last number that was given out before the command began. */
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
    // A zombie has neither any more, and its children have another parent.
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
      // Asked last, because it is what costs.
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
    // Numbers are given out in order: those of a young command lie between its own and the last, so few need a look.
    // They start again at the top of their range, and in time may come round to where they were.
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
      // The map grows while it is walked: children of children are visited in the same round.
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
      // Who died while we looked may have left a child that came too late to be seen.
      for (let again = 0; again < 5 && found.length === 0 && lastProcessId() !== lastSeen; again++) {
        found = findNew();
      }
      return found;
    },
    findNew,
    recheck: (members) => [...members.flatMap(readAgain), ...findNew()],
    mayHaveOthers: () => lastProcessId() !== after,
    signal(members, signal) {
      // Read again: the number may be another's by now, and `setsid` leads out of the group.
      const current = members.flatMap(readAgain);
      // A group is told at once, or one that forks would always be a step ahead.
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

/** Where there is no `/proc`: the process group, which misses who has left it. */
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

/** No machine starts the 32,768 processes in this time that the smallest range of numbers holds. */
const YOUNG_MS = 1000;

/** Asked for one by one, these cost less than a list of all. */
const FEW = 100;

function numbersAfter(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first) }, (_, index) => last - index);
}

function takeOut(entries: Set<ProcessEntry>, belongs: (entry: ProcessEntry) => boolean): ProcessEntry[] {
  const found = [...entries].filter(belongs);
  for (const entry of found) entries.delete(entry);
  return found;
}

/** The process as it is now, nothing when it is dead. */
function readAgain(entry: ProcessEntry): ProcessEntry[] {
  const now = readProcess(entry.pid);
  return now?.alive === true && isSame(entry, now) ? [now] : [];
}

function isSame(one: ProcessEntry, other: ProcessEntry | undefined): boolean {
  return other !== undefined && one.pid === other.pid && one.startTicks === other.startTicks;
}
