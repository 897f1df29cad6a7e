import type { Confinement, RoomOwner } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { type NoRoom, openRoom, type Room, type RoomStay } from './sandbox/room.js';

/** The facts about a command that select its room, the network namespace of its conversation. */
export interface RoomRequest {
  readonly confinement: Confinement;
  /** If absent: it has its own network namespace. */
  readonly conversation?: string | undefined;
  readonly isBackground: boolean;
  /** The program's absolute path. */
  readonly bubblewrap: string;
}

/** An empty room contains nothing that a new one lacks; creating one takes some milliseconds. */
const KEPT_MS = 2 * 60 * 1000;
/** Each is two processes. */
const MOST_EMPTY = 8;

interface Kept {
  readonly opening: Promise<Room | NoRoom>;
  cancel: () => void;
}

const kept = new WeakMap<RoomOwner, Map<string, Kept>>();

/** Puts a command into the room of its conversation. Undefined if it has none. Never rejects. */
export async function enterRoom(request: RoomRequest): Promise<RoomStay | undefined> {
  const { confinement, conversation, isBackground, bubblewrap } = request;
  const owner = confinement.rooms;
  if (confinement.network || owner === undefined || conversation === undefined) return undefined;
  if (owner.isEnded === true || systemClock.monotonic() < impossibleUntil) return undefined;
  const rooms = roomsOf(owner);
  for (let attempt = 0; attempt < 2; attempt++) {
    const room = await openIn(rooms, conversation, bubblewrap);
    if (room === undefined || 'reason' in room) return undefined;
    // Synchronous from here on, because an empty room may be closed at any time.
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

/** How long to wait after a failure, which may have been caused by load. */
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
  // Moves the most recently used one to the end.
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
