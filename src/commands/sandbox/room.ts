import { askProgram } from '../../platform/process/ask-program.js';
import { findTrustedProgram } from '../../platform/process/find-program.js';
import {
  hasLoopback6,
  openNetworkCounters,
  type RoomKeeper,
  startRoomKeeper,
} from '../../platform/process/room-keeper.js';
import { hasPassed, notePassed } from './remembered-trials.js';
import { type NetworkRefusal, RoomLedger } from './room-ledger.js';
import { programDirectories } from './system-mounts.js';

/**
 * A network namespace that the commands of a conversation share, with only a loopback. A process of ours
 * keeps it and its user namespace alive. Commands enter both, and bubblewrap gives each command a nested user
 * namespace, so that no command has a capability over the shared network.
 */
export interface Room {
  /** Arguments before bubblewrap's command line. */
  readonly command: readonly string[];
  /** Its loopback has `::1`. */
  readonly hasLoopback6: boolean;
  /** A process in it. */
  readonly pid: number;
  readonly isOpen: () => boolean;
  readonly isEmpty: () => boolean;
  /** Call it before a command starts. */
  enter(isBackground: boolean): RoomStay;
  /** Ended with the last command in it. */
  attach(end: () => Promise<void>): void;
  /** Commands inside keep their network. Resolves when our own processes are gone. */
  close(): Promise<void>;
}

export interface RoomStay {
  readonly room: Room;
  /** Call it when the command has ended. @returns its network refusals */
  leave(): readonly NetworkRefusal[];
}

/** Why there is no room: a command then gets its own network namespace. */
export interface NoRoom {
  readonly reason: string;
}

/** Never rejects. */
export async function openRoom(bubblewrap: string): Promise<Room | NoRoom> {
  const nsenter = findTrustedProgram('nsenter');
  if (nsenter === undefined) return { reason: 'nsenter (util-linux) is not installed' };
  const keeper = await startRoomKeeper(bubblewrap, KEEPER_FLAGS());
  if (typeof keeper === 'string') return { reason: keeper };
  const command = [nsenter, '-U', '--preserve-credentials', '-n', '-t', `${keeper.pid}`, '--'];
  const refusal = await whyNotEntered(command);
  if (refusal === undefined) return toRoom(keeper, command);
  await keeper.end();
  return { reason: refusal };
}

/** Checked once per process. */
let entered = false;

const ENTERED = 'the namespaces of a room were entered';

async function whyNotEntered([file = '', ...args]: readonly string[]): Promise<string | undefined> {
  entered ||= hasPassed(ENTERED);
  if (entered) return undefined;
  const answer = await askProgram(file, [...args, '/bin/sh', '-c', ':'], {});
  entered = answer.ok;
  if (entered) notePassed(ENTERED);
  return answer.ok ? undefined : `its namespaces cannot be entered: ${answer.reason}`;
}

/**
 * It is root in its own user namespace, without capabilities: a process that enters gets them as the owner of
 * the parent namespace.
 */
const KEEPER_FLAGS = (): readonly string[] => [
  ...['--die-with-parent', '--new-session'],
  ...['--unshare-user', '--uid', '0', '--gid', '0'],
  ...['--unshare-net', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
  ...programDirectories(),
  ...['--info-fd', '3', '--', '/bin/sh', '-c', 'exec 3>&-; echo up; read -r end'],
];

function toRoom(keeper: RoomKeeper, command: readonly string[]): Room {
  const { pid } = keeper;
  const ledger = new RoomLedger();
  const counters = openNetworkCounters(pid);
  let isClosed = false;
  const attached: (() => Promise<void>)[] = [];
  const endAttached = async (): Promise<void> => {
    await Promise.all(attached.splice(0).map((end) => end()));
  };
  const room: Room = {
    command,
    hasLoopback6: hasLoopback6(pid),
    pid,
    isOpen: () => !isClosed && keeper.isAlive(),
    isEmpty: () => ledger.isEmpty,
    enter(isBackground) {
      const stay = ledger.enter(isBackground, counters.read());
      return {
        room,
        leave() {
          const refused = ledger.leave(stay, counters.read());
          if (ledger.isEmpty) void endAttached();
          return refused;
        },
      };
    },
    attach: (end) => void attached.push(end),
    async close() {
      isClosed = true;
      counters.close();
      await endAttached();
      await keeper.end();
    },
  };
  return room;
}

/** Why commands cannot share a room here; undefined if they can. For diagnosis. */
export async function whyNoRooms(bubblewrap: string): Promise<string | undefined> {
  const room = await openRoom(bubblewrap);
  if ('reason' in room) return room.reason;
  await room.close();
  return undefined;
}
