import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolexecSandbox } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Row, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const PATH = join('src', 'deep', 'file.txt');
const RESOLUTIONS = 500;

/** `sandbox.resolve` of a file that is there, beside the `realpathSync` that a check without race safety would do. */
export function measureSandbox(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    mkdirSync(join(directory, 'src', 'deep'), { recursive: true });
    writeFileSync(join(directory, PATH), 'x');
    const sandbox = toolexecSandbox.createSandbox({ roots: [directory] });
    const { read, write, bare } = await interleave(
      {
        read: repeat(() => sandbox.resolve(PATH, 'read')),
        write: repeat(() => sandbox.resolve(PATH, 'write')),
        bare: repeat(() => realpathSync(join(directory, PATH))),
      },
      { rounds: scale === 'quick' ? 3 : 40, warmUps: scale === 'quick' ? 1 : 5 },
    );
    const goal = { of: 'ours', atMost: 1_000 } as const;
    return [
      toRow('to read', read, ['realpathSync', bare], { computing: true, goal }),
      toRow('to write', write, ['realpathSync', bare], { computing: true, goal }),
    ];
  });
}

function repeat(resolve: () => string): Contender {
  return {
    units: RESOLUTIONS,
    run() {
      let length = 0;
      for (let done = 0; done < RESOLUTIONS; done++) length += resolve().length;
      return length;
    },
  };
}
