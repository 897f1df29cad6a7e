import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findOverlaySetup, whyNoOverlays } from './overlay-setup.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-overlay-setup-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = join(folder, 'root');
mkdirSync(root);
const works = (await whyNoOverlays([root])) === undefined;

describe.skipIf(!works)('whyNoOverlays()', () => {
  it('makes nothing in a place that is not there yet', async () => {
    const place = join(folder, 'new');
    expect(await whyNoOverlays([root], [place])).toBeUndefined();
    expect(existsSync(place)).toBe(false);
  });

  it('tries a place that transactions have used itself, and a command does not try it again', async () => {
    const place = join(folder, 'place');
    const other = join(folder, 'other');
    mkdirSync(other);
    expect(await findOverlaySetup([other], [place])).toMatchObject({ place });
    const used = readdirSync(place);
    expect(used).toEqual(['whiteout']);

    expect(await whyNoOverlays([root], [place])).toBeUndefined();
    expect(readdirSync(place)).toEqual(used);
    // A second trial would make it again.
    rmSync(join(place, 'whiteout'));
    expect(await findOverlaySetup([root], [place])).toMatchObject({ place });
    expect(readdirSync(place)).toEqual([]);
  });
});
