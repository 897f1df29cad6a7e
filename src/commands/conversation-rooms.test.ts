import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExecutor } from '../executor/create-executor.js';
import { enterRoom } from './conversation-rooms.js';
import { WHY_NO_SANDBOX } from './fixtures/sandbox-here.js';
import { whyNoRooms } from './sandbox/room.js';

let place: string;
/** A bubblewrap that the system does not allow to create a namespace. */
let broken: string;

beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), 'no-room-')));
  broken = join(place, 'bwrap');
  writeFileSync(
    broken,
    `#!/bin/sh\necho tried >>${place}/tries\necho "no permission to make a namespace" >&2\nexit 1\n`,
  );
  chmodSync(broken, 0o755);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

const CONFINEMENT = {
  os: 'preferred',
  roots: ['/work'],
  readable: [],
  network: false,
  guarded: () => ({ hidden: [], readOnly: [], missing: [], incomplete: false }),
} as const;

describe.skipIf(WHY_NO_SANDBOX)(`a conversation that can have no room${WHY_NO_SANDBOX}`, () => {
  it('runs without a room, and no second attempt follows for a while', async () => {
    const request = { confinement: { ...CONFINEMENT, rooms: {} }, conversation: 'one', isBackground: false };
    for (let round = 0; round < 3; round++)
      expect(await enterRoom({ ...request, bubblewrap: broken })).toBeUndefined();
    expect(readFileSync(join(place, 'tries'), 'utf8')).toBe('tried\n');
    expect(await whyNoRooms(broken)).toBe('no permission to make a namespace');
  });

  /** After the test above, no command in this process has a room. */
  it('has a loopback for each command, and counts the refusals of each', async () => {
    const executor = createExecutor({ root: place, approver: null, journal: join(place, 'journal.db') });
    let calls = 0;
    const refusals = async (command: string): Promise<unknown> => {
      const call = { id: `c${++calls}`, name: 'bash', args: { command } };
      const [result] = await executor.run([call], { conversation: 'one' });
      expect(result?.success).toBe(false);
      return result?.error?.details?.refused_by_sandbox;
    };
    const address = 'readlink /proc/self/ns/net';
    const [one] = await executor.run([{ id: 'a', name: 'bash', args: { command: address } }], {
      conversation: 'one',
    });
    expect(one?.output).toContain('net:[');
    // The next namespace may get the number of this one, which is gone.
    expect(one?.output.trim()).not.toBe(readlinkSync('/proc/self/ns/net'));
    expect(await refusals('exec 3<>/dev/tcp/192.0.2.1/80 2>/dev/null || exit 1')).toEqual(['network']);
    expect(await refusals('getent hosts no.example.com 2>/dev/null')).toEqual(['name_lookup']);
    expect(await refusals('getent hosts no.example.com 2>/dev/null; kill -9 $$')).toEqual(['name_lookup']);
    for (const own of [
      'exit 3',
      'getent hosts localhost; exit 3',
      'exec 3<>/dev/tcp/127.0.0.1/9',
      'kill -9 $$',
    ])
      expect(await refusals(own)).toBeUndefined();
    await executor.close();
  });
});
