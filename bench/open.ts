import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { toolexecSandbox } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const PATH = join('src', 'deep', 'file.txt');
const OPENINGS = 500;

/**
 * Opening a file three deep: held inside the sandbox, judged, and given a descriptor. Beside it a plain open, and what
 * most programs do, which loses one race in four: ask for the real path, check that, open it.
 */
export function measureOpen(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    mkdirSync(join(directory, 'src', 'deep'), { recursive: true });
    const path = join(directory, PATH);
    writeFileSync(path, 'x'.repeat(100));
    const sandbox = toolexecSandbox.createSandbox({ roots: [directory] });
    const openChecked = (): number => {
      const real = realpathSync(path);
      if (!real.startsWith(`${directory}/`)) throw new Error(`outside: ${real}`);
      return openSync(real, 'r');
    };
    const { held, checked, plain, read, readChecked } = await interleave(
      {
        held: repeat(() => {
          const entry = sandbox.hold(PATH);
          closeSync(entry.openForReading());
          entry.close();
        }),
        checked: repeat(() => {
          const descriptor = openChecked();
          // Only regular files are held.
          if (!fstatSync(descriptor).isFile()) throw new Error('no file');
          closeSync(descriptor);
        }),
        plain: repeat(() => closeSync(openSync(path, 'r'))),
        read: repeat(() => sandbox.files.read(PATH)),
        readChecked: repeat(async () => {
          const descriptor = openChecked();
          readFileSync(descriptor);
          closeSync(descriptor);
        }),
      },
      { rounds: scale === 'quick' ? 3 : 60, warmUps: scale === 'quick' ? 1 : 10 },
    );
    const goal = { of: 'ratio', atMost: 1 } as const;
    return [
      toRow('contained', held, ['realpath, check, open', checked], { computing: true, goal }),
      toRow('contained', held, ['plain open', plain], { computing: true }),
      toRow('contained, 100 bytes read', read, ['realpath, check, open, read', readChecked], {
        computing: true,
        goal,
      }),
    ];
  });
}

function repeat(open: () => unknown): Contender {
  return {
    units: OPENINGS,
    async run() {
      for (let done = 0; done < OPENINGS; done++) await open();
    },
  };
}
