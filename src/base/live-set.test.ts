import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LiveMember, LiveSet } from './live-set.js';

describe('LiveSet', () => {
  it('holds what a Set holds, whatever comes and goes', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('add', 'delete'), fc.nat(5)), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (todo) => {
        const members = Array.from({ length: 6 }, (): LiveMember => ({ place: -1 }));
        const live = new LiveSet<LiveMember>();
        const plain = new Set<LiveMember>();
        for (const [step, which] of todo) {
          const member = members[which] as LiveMember;
          if (step === 'delete') expect(live.delete(member)).toBe(plain.delete(member));
          else if (!plain.has(member)) live.add(member);
          if (step === 'add') plain.add(member);
          expect(new Set(live.members)).toEqual(plain);
          expect(live.size).toBe(plain.size);
        }
      }),
    );
  });
});
