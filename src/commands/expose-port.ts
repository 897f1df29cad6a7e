import type { ExposedPort, RoomOwner } from '../contract/processes.js';
import { openPortForwarder, type PortForwarder } from '../platform/process/port-forwarder.js';
import { ownIds } from '../platform/runtime/environment.js';
import { findRoom } from './conversation-rooms.js';
import { findCommandSandbox } from './sandbox/find-sandbox.js';
import type { Room } from './sandbox/room.js';

/** By the port inside. */
const exposed = new WeakMap<Room, Map<number, Promise<PortForwarder>>>();

/**
 * Makes a port of the conversation's loopback reachable for programs on this machine, on `127.0.0.1`, until
 * no command of the conversation runs. @returns the reason, in words, if it cannot be done
 */
export async function exposePort(
  owner: RoomOwner,
  conversation: string,
  port: number,
): Promise<ExposedPort | string> {
  const room = await findRoom(owner, conversation);
  const sandbox = await findCommandSandbox();
  if (room === undefined || room.isEmpty() || !sandbox.stands) {
    return 'no command of this conversation runs in the background';
  }
  const ports = exposed.get(room) ?? new Map<number, Promise<PortForwarder>>();
  exposed.set(room, ports);
  try {
    const known = await ports.get(port);
    const opening = known?.isOpen() === true ? known : openPortForwarder(enter(room, sandbox.file), port);
    ports.set(port, Promise.resolve(opening));
    const forwarder = await opening;
    if (forwarder !== known) room.attach(() => forwarder.close());
    return { port, url: `http://127.0.0.1:${forwarder.port}` };
  } catch (error) {
    ports.delete(port);
    return error instanceof Error ? error.message : String(error);
  }
}

/** Without capabilities over the network, and without write access to files. */
function enter({ command }: Room, bubblewrap: string): readonly string[] {
  const { uid, gid } = ownIds();
  return [
    ...[...command, bubblewrap, '--die-with-parent', '--new-session'],
    ...['--unshare-user', '--uid', `${uid}`, '--gid', `${gid}`, '--cap-drop', 'ALL', '--disable-userns'],
    ...['--ro-bind', '/', '/', '--'],
  ];
}
