import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { canSyncFileSystems, syncFileSystems, syncFileSystemsNow } from './sync-file-systems.js';

const GONE = 'the disk did not confirm it: No such file or directory';

describe.skipIf(!canSyncFileSystems())('a sync of file systems', () => {
  it('says why it failed, and nothing if all is on the disk', async () => {
    expect(await syncFileSystems([tmpdir(), '/dev'])).toBeUndefined();
    expect(syncFileSystemsNow([tmpdir()])).toBeUndefined();
    expect(await syncFileSystems(['/not/there', tmpdir()])).toBe(GONE);
    expect(syncFileSystemsNow(['/not/there'])).toBe(GONE);
  });
});
