import { describe, expect, it } from 'vitest';
import { RoomLedger } from './room-ledger.js';

/** A room with the number of connections that the kernel has refused so far. */
function room() {
  const ledger = new RoomLedger();
  const now = { noRoute: 0, noPort6: 0 };
  return {
    now,
    enter: (isBackground = false) => ledger.enter(isBackground, { ...now }),
    leave: (stay: ReturnType<RoomLedger['enter']>) => ledger.leave(stay, { ...now }),
  };
}

describe('the command that a network refusal belongs to', () => {
  it('is the only command', () => {
    const { now, enter, leave } = room();
    const first = enter();
    now.noRoute++;
    expect(leave(first)).toEqual(['network']);
    const second = enter();
    now.noPort6 += 2;
    expect(leave(second)).toEqual(['name_lookup']);
    expect(leave(enter())).toEqual([]);
  });

  it('is the foreground command beside a quiet background shell', () => {
    const { now, enter, leave } = room();
    const server = enter(true);
    const command = enter();
    now.noRoute++;
    expect(leave(command)).toEqual(['network']);
    expect(leave(server)).toEqual([]);
  });

  it('is not the foreground command if a background shell had the same refusal before', () => {
    const { now, enter, leave } = room();
    const noisy = enter(true);
    now.noRoute++;
    const command = enter();
    now.noRoute++;
    now.noPort6++;
    expect(leave(command)).toEqual(['name_lookup']);
    expect(leave(noisy)).toEqual(['network']);
  });

  it('is unknown between two foreground commands', () => {
    const { now, enter, leave } = room();
    const one = enter();
    const other = enter();
    now.noRoute++;
    expect(leave(one)).toEqual([]);
    expect(leave(other)).toEqual([]);
  });

  it('is known again when the other command has ended', () => {
    const { now, enter, leave } = room();
    const one = enter();
    const other = enter();
    leave(one);
    now.noRoute++;
    expect(leave(other)).toEqual(['network']);
    expect(leave(other)).toEqual([]);
  });

  it('is unknown if the counters cannot be read', () => {
    const ledger = new RoomLedger();
    const stay = ledger.enter(false, undefined);
    expect(ledger.leave(stay, { noRoute: 5, noPort6: 5 })).toEqual([]);
  });
});
