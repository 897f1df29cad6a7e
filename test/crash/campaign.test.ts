import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import type { KillPoint } from '../../src/testing/play-round.js';
import { builtKit, type Campaign, fileCampaign, paymentCampaign, writeTools } from './campaign.js';

// `TOOLEXEC_CRASH_KILLS=2000 npx vitest run test/crash` is the whole campaign; it takes about half an hour.
const KILLS = soakSize('TOOLEXEC_CRASH_KILLS', { short: 8, whole: 60 });
const SEED = process.env.TOOLEXEC_CRASH_SEED;

const { runTrial, door } = await builtKit();
const tools = writeTools(door);
afterAll(() => rmSync(dirname(tools), { recursive: true }));
const parts = [fileCampaign(tools), paymentCampaign(tools, false), paymentCampaign(tools, true)];

describe('a process that is killed', () => {
  it.each(parts.map((part) => [part.title, part] as const))(
    'has one truthful result for each call, and nothing twice: %s',
    async (_, part) => {
      const share = Math.ceil(KILLS / parts.length);
      const { report, passed } = await runTrial(killed(part, share), { unfenced: false });
      process.stdout.write(`${part.title}: ${report}`);
      expect(passed, report).toBe(true);
    },
    KILLS * 5_000,
  );

  it.skipIf(!hasStrace())(
    'between any two changes of its files (skipped where strace is not installed)',
    async () => {
      const points = SYSTEM_CALLS.flatMap(([name, most]) =>
        Array.from(
          { length: most },
          (_, index): KillPoint => ({ kind: 'system_call', name, nth: index + 1 }),
        ),
      );
      const part = { ...fileCampaign(tools), stepKills: 0, randomKills: 0 };
      const { report, passed, kills } = await runTrial(part, { unfenced: false, points });
      process.stdout.write(`${part.title}: ${report}`);
      expect(kills).toBeGreaterThan(6);
      expect(passed, report).toBe(true);
    },
    300_000,
  );

  it('is found to run things twice when the fences are taken away', async () => {
    const part = { ...paymentCampaign(tools, false), stepKills: 8, randomKills: 0 };
    const { problems, passed } = await runTrial(part, { unfenced: true });
    expect(passed).toBe(false);
    expect(problems.map(({ kind }) => kind)).toContain('ran_twice');
  });
});

/** How the file tools change files, and how often each may occur in a batch. */
const SYSTEM_CALLS: readonly (readonly [string, number])[] = [
  ['rename', 8],
  ['unlink', 6],
  ['mkdir', 2],
];

function killed(part: Campaign, kills: number): Campaign {
  const stepKills = Math.ceil(kills * 0.6);
  const seed = SEED === undefined ? {} : { seed: Number(SEED) };
  return { ...part, ...seed, stepKills, randomKills: kills - stepKills };
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
