import type { Confinement, RoomOwner } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { type NoRoom, openRoom, type Room, type RoomStay } from './sandbox/room.js';

/** What has to be known of a command to find its room. */
export interface RoomRequest {
  readonly confinement: Confinement;
  /** Left out: it has a network namespace for itself. */
  readonly conversation?: string | undefined;
  readonly isBackground: boolean;
  /** The program's absolute path. */
  readonly bubblewrap: string;
}

/** An empty room holds nothing that the next one does not have; making it takes some milliseconds. */
const KEPT_MS = 2 * 60 * 1000;
/** Each is two processes. */
const MOST_EMPTY = 8;

interface Kept {
  readonly opening: Promise<Room | NoRoom>;
  cancel: () => void;
}

const kept = new WeakMap<RoomOwner, Map<string, Kept>>();

/** Lets a command into the room of its conversation. Undefined if it has none. Never rejects. */
export async function enterRoom(request: RoomRequest): Promise<RoomStay | undefined> {
  const { confinement, conversation, isBackground, bubblewrap } = request;
  const owner = confinement.rooms;
  if (confinement.network || owner === undefined || conversation === undefined) return undefined;
  if (owner.isEnded === true || systemClock.monotonic() < impossibleUntil) return undefined;
  const rooms = roomsOf(owner);
  for (let attempt = 0; attempt < 2; attempt++) {
    const room = await openIn(rooms, conversation, bubblewrap);
    if (room === undefined || 'reason' in room) return undefined;
    // Nothing may happen between the two: an empty room may be closed at any time.
    if (room.isOpen()) return stayIn(room, isBackground, rooms, conversation);
    rooms.delete(conversation);
  }
  return undefined;
}

function stayIn(room: Room, isBackground: boolean, rooms: Map<string, Kept>, conversation: string): RoomStay {
  const { leave } = room.enter(isBackground);
  return {
    room,
    leave() {
      const refused = leave();
      if (room.isEmpty()) closeLater(rooms, conversation);
      return refused;
    },
  };
}

/** The room of a conversation, if it is open. */
export async function findRoom(owner: RoomOwner, conversation: string): Promise<Room | undefined> {
  const room = await kept.get(owner)?.get(conversation)?.opening;
  return room !== undefined && 'command' in room && room.isOpen() ? room : undefined;
}

/** After a failure it is not tried again for so long: it may have been the load of the machine. */
const TRIED_AGAIN_MS = 60_000;
let impossibleUntil = 0;

async function openIn(
  rooms: Map<string, Kept>,
  conversation: string,
  bubblewrap: string,
): Promise<Room | NoRoom> {
  const found = rooms.get(conversation) ?? { opening: openRoom(bubblewrap), cancel: () => {} };
  rooms.set(conversation, found);
  found.cancel();
  const room = await found.opening;
  if ('reason' in room) {
    impossibleUntil = systemClock.monotonic() + TRIED_AGAIN_MS;
    rooms.delete(conversation);
  }
  return room;
}

function closeLater(rooms: Map<string, Kept>, conversation: string): void {
  const found = rooms.get(conversation);
  if (found === undefined) return;
  found.cancel();
  found.cancel = idleClock.after(KEPT_MS, () => void closeEmpty(rooms, conversation));
  // The one that was used last comes last.
  rooms.delete(conversation);
  rooms.set(conversation, found);
  void closeOldest(rooms);
}

async function closeOldest(rooms: Map<string, Kept>): Promise<void> {
  for (const conversation of [...rooms.keys()].slice(0, -MOST_EMPTY)) await closeEmpty(rooms, conversation);
}

async function closeEmpty(rooms: Map<string, Kept>, conversation: string): Promise<void> {
  const found = rooms.get(conversation);
  const room = await found?.opening;
  if (found === undefined || room === undefined || 'reason' in room || !room.isEmpty()) return;
  found.cancel();
  if (rooms.get(conversation) === found) rooms.delete(conversation);
  await room.close();
}

function roomsOf(owner: RoomOwner): Map<string, Kept> {
  const known = kept.get(owner);
  if (known !== undefined) return known;
  const rooms = new Map<string, Kept>();
  kept.set(owner, rooms);
  owner.end = async () => {
    owner.isEnded = true;
    const all = [...rooms.values()];
    rooms.clear();
    for (const { cancel } of all) cancel();
    const opened = await Promise.all(all.map(({ opening }) => opening));
    await Promise.all(opened.map((room) => ('command' in room ? room.close() : undefined)));
  };
  return rooms;
}
