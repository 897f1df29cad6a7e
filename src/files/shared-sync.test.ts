import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Handle } from '../platform/fs/open-handle.js';
import { syncShared } from './shared-sync.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-sync-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A directory that is open; `at` is where the sync opens it. */
function handle(at = folder): Handle {
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
    const first = syncShared(handle());
    expect(syncShared(handle())).toBe(first);
    await first;
    const second = syncShared(handle());
    expect(second).not.toBe(first);
    await second;
  });

  it('gives those that ask while a sync runs the next one, which begins after it has ended', async () => {
    const ended: string[] = [];
    const note = (name: string) => (): unknown => ended.push(name);
    const running = syncShared(handle());
    const noted = [running.then(note('running'))];
    // It begins with the next microtask.
    await Promise.resolve();
    const next = syncShared(handle());
    expect(next).not.toBe(running);
    expect(syncShared(handle())).toBe(next);
    noted.push(next.then(note('next')));
    await Promise.all(noted);
    expect(ended).toEqual(['running', 'next']);
  });

  it('fails for all that share the sync, and for none of those that share the next one', async () => {
    const gone = handle(join(folder, 'gone'));
    const failing = [syncShared(gone), syncShared(handle())];
    await Promise.resolve();
    const next = syncShared(handle());
    for (const sync of failing) await expect(sync).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(next).resolves.toBeUndefined();
  });
});
