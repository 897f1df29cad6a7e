import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Pin } from '../platform/fs/pin.js';
import { syncShared } from './shared-sync.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-sync-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A directory that is open; `at` is where the sync opens it. */
function pin(at = folder): Pin {
  return {
    at,
    name: () => folder,
    stat: () => statSync(folder),
    openForReading: () => -1,
    close: () => {},
  };
}

describe('syncShared()', () => {
  it('shares one sync among all that ask before it begins', async () => {
    const first = syncShared(pin());
    expect(syncShared(pin())).toBe(first);
    await first;
    const second = syncShared(pin());
    expect(second).not.toBe(first);
    await second;
  });

  it('gives those that ask while a sync runs the next one, which begins after it has ended', async () => {
    const ended: string[] = [];
    const note = (name: string) => (): unknown => ended.push(name);
    const running = syncShared(pin());
    const noted = [running.then(note('running'))];
    // It begins with the next microtask.
    await Promise.resolve();
    const next = syncShared(pin());
    expect(next).not.toBe(running);
    expect(syncShared(pin())).toBe(next);
    noted.push(next.then(note('next')));
    await Promise.all(noted);
    expect(ended).toEqual(['running', 'next']);
  });

  it('fails for all that share the sync, and for none of those that share the next one', async () => {
    const gone = pin(join(folder, 'gone'));
    const failing = [syncShared(gone), syncShared(pin())];
    await Promise.resolve();
    const next = syncShared(pin());
    for (const sync of failing) await expect(sync).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(next).resolves.toBeUndefined();
  });
});
