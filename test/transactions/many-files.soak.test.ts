import { afterAll, describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { makeKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const here = makeKeptApart({ rules: { maxMb: 4096 } });
afterAll(() => here.remove(), 600_000);

const FILES = soakSize('FILES', { short: 20_000, whole: 100_000 });
const EACH = FILES / 100;
const count = (): number => Number(here.outside('find . -type f | wc -l'));

describe.skipIf(WHY_NOT !== '')(
  `a command that changes ${FILES} files${WHY_NOT}`,
  { timeout: 600_000 },
  () => {
    const signal = (): AbortSignal => AbortSignal.timeout(300_000);

    it('commits all of them, and reports how many the lists leave out', async () => {
      const make = `perl -e 'for my $d (1 .. 100) { mkdir "d$d"; for (1 .. ${EACH}) { open F, ">", "d$d/$_"; print F $_ } }'`;
      const { exitCode, changes } = await here.run(make, { signal: signal() });
      expect(exitCode).toBe(0);
      expect(changes?.created.length).toBe(200);
      expect(changes?.more).toBe(FILES + 100 - 200);
      expect(count()).toBe(FILES);
      expect(here.outside(`cat d7/77 d100/${EACH}`)).toBe(`77${EACH}`);
    });

    it('commits its changed and removed files, and no others', async () => {
      const { changes } = await here.run('echo new >d1/1; rm d2/2; mv d3/3 d3/three; rm -r d4', {
        signal: signal(),
      });
      expect(changes).toMatchObject({
        modified: ['d1/1'],
        created: ['d3/three'],
        refused: [],
        conflicts: [],
      });
      expect(changes?.deleted.length).toBe(200);
      expect(changes?.more).toBe(EACH + 3 - 200);
      expect(count()).toBe(FILES - EACH - 1);
    });

    it('can remove all of them', async () => {
      const { changes } = await here.run('rm -r d*', { signal: signal() });
      expect(changes?.deleted.length).toBe(200);
      expect(here.outside('ls')).toBe('');
    });
  },
);
