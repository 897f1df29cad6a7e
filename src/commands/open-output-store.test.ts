import { mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OutputStoreOptions, openOutputStore } from './open-output-store.js';

const DAY_MS = 24 * 3600 * 1000;

/** A permanent store in which each output takes 10 bytes. */
function storeOf(options: OutputStoreOptions = {}) {
  const directory = join(realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-store-'))), 'outputs');
  onTestFinished(() => rmSync(join(directory, '..'), { recursive: true, force: true }));
  const store = openOutputStore({ directory, ...options });
  const fileOf = (ref: string) => `${ref.replace('toolexec-output:', '')}.out`;
  return {
    save: (ageMs = 0): string => {
      const ref = store.save('0123456789') ?? '';
      const at = new Date(Date.now() - ageMs);
      utimesSync(join(directory, fileOf(ref)), at, at);
      return ref;
    },
    saved: () => readdirSync(directory).sort(),
    files: (...refs: readonly string[]) => refs.map(fileOf).sort(),
  };
}

describe('a permanent store of outputs', () => {
  it('removes an output after a week, although there is room', () => {
    const { save, saved, files } = storeOf();
    save(7.1 * DAY_MS);
    const young = save(6.9 * DAY_MS);
    expect(saved()).toEqual(files(young));
    const next = save();
    expect(saved()).toEqual(files(young, next));
  });

  it('removes the oldest outputs when there is no room, even if they are recent', () => {
    const { save, saved, files } = storeOf({ maxTotalBytes: 30 });
    const [second, , third] = [save(2 * DAY_MS), save(3 * DAY_MS), save(DAY_MS)];
    const last = save();
    expect(saved()).toEqual(files(second ?? '', third ?? '', last));
  });

  it('keeps outputs that fit exactly', () => {
    const { save, saved, files } = storeOf({ maxTotalBytes: 30 });
    const all = [save(DAY_MS), save(), save()];
    expect(saved()).toEqual(files(...all));
  });
});
