import { askProgram } from '../../platform/process/ask-program.js';
import { findTrustedProgram } from '../../platform/process/find-program.js';
import {
  hasLoopback6,
  openNetworkCounters,
  type RoomKeeper,
  startRoomKeeper,
} from '../../platform/process/room-keeper.js';
import { type NetworkRefusal, RoomLedger } from './room-ledger.js';
import { programDirectories } from './system-mounts.js';

/**
 * A network namespace that the commands of a conversation share, with a loopback and nothing else. A process of ours
 * keeps it and its user namespace; commands enter both, and bubblewrap gives each command a user namespace below that
 * one, so that no command has a capability over the network that it shares.
 */
export interface Room {
  /** What stands before the command line of bubblewrap. */
  readonly command: readonly string[];
  /** Its loopback has `::1`. */
  readonly hasLoopback6: boolean;
  /** A process in it. */
  readonly pid: number;
  readonly isOpen: () => boolean;
  readonly isEmpty: () => boolean;
  /** To be called before a command starts. */
  enter(isBackground: boolean): RoomStay;
  /** Ended with the last command in it. */
  attach(end: () => Promise<void>): void;
  /** Commands that are in it keep their network. Resolves when nothing of ours is left. */
  close(): Promise<void>;
}

export interface RoomStay {
  readonly room: Room;
  /** To be called when the command has ended. @returns what of the network was refused to it */
  leave(): readonly NetworkRefusal[];
}

/** Why there is none: a command gets a network namespace for itself. */
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

/** Asked once in a process. */
let entered = false;

async function whyNotEntered([file = '', ...args]: readonly string[]): Promise<string | undefined> {
  if (entered) return undefined;
  const answer = await askProgram(file, [...args, '/bin/sh', '-c', ':'], {});
  entered = answer.ok;
  return answer.ok ? undefined : `its namespaces cannot be entered: ${answer.reason}`;
}

/** It is root in its own user namespace, without capabilities: what enters gets them, as its parent's owner. */
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

/** Why commands have no rooms here; undefined: they have. For a look alone. */
export async function whyNoRooms(bubblewrap: string): Promise<string | undefined> {
  const room = await openRoom(bubblewrap);
  if ('reason' in room) return room.reason;
  await room.close();
  return undefined;
}
