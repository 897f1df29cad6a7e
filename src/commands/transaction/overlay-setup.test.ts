import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MountedView } from './mounted-view.js';
import { findOverlayPrograms } from './overlay-mount.js';
import { findOverlaySetup, whyNoOverlays } from './overlay-setup.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-overlay-setup-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const root = join(folder, 'root');
mkdirSync(root);
const works = (await whyNoOverlays([root])) === undefined;

describe.skipIf(!works)('whyNoOverlays()', () => {
  it('creates nothing in a place that does not exist yet', async () => {
    const place = join(folder, 'new');
    expect(await whyNoOverlays([root], [place])).toBeUndefined();
    expect(existsSync(place)).toBe(false);
  });

  it('tests a place that transactions have used, and a command does not test it again', async () => {
    const place = join(folder, 'place');
    const other = join(folder, 'other');
    mkdirSync(other);
    expect(await findOverlaySetup([other], [place])).toMatchObject({ place });
    const used = readdirSync(place);
    expect(used).toEqual(['whiteout']);

    expect(await whyNoOverlays([root], [place])).toBeUndefined();
    expect(readdirSync(place)).toEqual(used);
    // A second trial would create it again.
    rmSync(join(place, 'whiteout'));
    expect(await findOverlaySetup([root], [place])).toMatchObject({ place });
    expect(readdirSync(place)).toEqual([]);
  });
});

/** The options of an overlay over the root as the kernel lists them, and whether a file can be written in it. */
async function mountWith(programs: ReturnType<typeof findOverlayPrograms>, name: string) {
  const place = join(folder, name);
  const setup = await findOverlaySetup([root], [place], programs);
  if ('reason' in setup) throw new Error(setup.reason);
  const at = (layer: string): string => join(folder, `${name}-${layer}`);
  for (const layer of ['masks', 'upper', 'work']) mkdirSync(at(layer));
  const mount = { root, masks: at('masks'), upper: at('upper'), work: at('work'), merged: root };
  const view = await MountedView.open(setup.programs, [{ ...mount, isVolatile: setup.isVolatile }]);
  if (typeof view === 'string') throw new Error(view);
  try {
    const mounts = readFileSync(view.root.replace(/root$/, 'mountinfo'), 'utf8').split('\n');
    const [, options = ''] =
      / - overlay overlay (.*)$/.exec(mounts.find((line) => line.includes(root)) ?? '') ?? [];
    writeFileSync(join(view.root, root, 'written'), 'x');
    return { isVolatile: /\bvolatile\b/.test(options), upper: readdirSync(at('upper')) };
  } finally {
    await view.end();
  }
}

describe.skipIf(!works)('overlays', () => {
  const programs = findOverlayPrograms();

  it('sync nothing by themselves, if the kernel has the option, and work without it', async () => {
    if (typeof programs === 'string') throw new Error(programs);
    expect(await mountWith(programs, 'newer')).toEqual({ isVolatile: true, upper: ['written'] });
    const mount = join(folder, 'mount');
    const refuse = 'case "$*" in *volatile*) echo "unknown option" >&2; exit 32;; esac';
    writeFileSync(mount, `#!/bin/sh\n${refuse}\nexec ${programs.mount} "$@"\n`, { mode: 0o755 });
    const older = { ...programs, mount };
    expect(await mountWith(older, 'older')).toEqual({ isVolatile: false, upper: ['written'] });
  });
});
