import { describe, expect, it } from 'vitest';
import { attack, type Score } from './attack.js';
import { openBattlefield } from './battlefield.js';
import { CARELESS } from './careless-operations.js';
import { CONTAINED } from './contained-operations.js';

/*
 * Nothing escapes while another process swaps directories, files and links for links to the outside, as fast as it
 * can (D049, D101). Short by default. The full length, for each kind of operation, with its figures:
 *
 *   TOOLEXEC_RACE=200000 npx vitest run test/attacks
 */
const FULL = process.env.TOOLEXEC_RACE;
const OPERATIONS = Number(FULL ?? 3000);
const KINDS = ['read', 'write', 'create', 'patch'] as const;

// Both need Unix links and the descriptors of Linux: elsewhere a documented window remains.
describe.runIf(process.platform === 'linux')(`${OPERATIONS} operations in a race for links`, () => {
  const timeout = 60_000 + OPERATIONS * 30;

  it.each(KINDS)('%s: none escapes (D049)', { timeout }, async (kind) => {
    const field = await openBattlefield();
    const most = performance.now() + 30_000;
    let isRaced = false;
    // On a busy machine, the other process may not have run in the meantime.
    while (!isRaced && performance.now() < most) {
      const score = await attack(field, CONTAINED[kind], OPERATIONS);
      const swaps = await field.swaps();
      report(kind, score, swaps);
      expect(score.escapes).toBe(0);
      expect(score.done + score.refused).toBe(OPERATIONS);
      isRaced = Math.min(score.done, score.refused) > OPERATIONS / 300 && swaps > 1000;
    }
    expect(isRaced).toBe(true);
  });

  it.each(KINDS)('%s by a path that was checked: some escape', async (kind) => {
    const field = await openBattlefield();
    const end = performance.now() + 45_000;
    const isOver = ({ escapes }: Score) => escapes >= 5 || performance.now() > end;
    const score = await attack(field, CARELESS[kind], Number.POSITIVE_INFINITY, isOver);
    report(`${kind} by a checked path`, score, await field.swaps());
    expect(score.escapes).toBeGreaterThan(0);
  });
});

function report(kind: string, { done, refused, escapes }: Score, swaps: number): void {
  if (FULL === undefined) return;
  console.info(`${kind}: ${done} done, ${refused} refused, ${escapes} escaped, ${swaps} swaps meanwhile`);
}
