import type { NetworkCounts } from '../../platform/process/room-keeper.js';

/** What of the network was refused to a command. */
export type NetworkRefusal = 'network' | 'name_lookup';

/** One command's time in a room. */
export interface Stay {
  readonly isBackground: boolean;
}

/** Refusals while a command was in the room: alone in it, or beside others. */
interface Account {
  readonly alone: Tally;
  readonly beside: Tally;
  readonly company: Set<Stay>;
}

type Tally = Record<NetworkRefusal, number>;

/** What was refused to a command that had its network namespace for itself. */
export function refusedAlone(counts: NetworkCounts | undefined): readonly NetworkRefusal[] {
  if (counts === undefined) return [];
  const ledger = new RoomLedger();
  return ledger.leave(ledger.enter(false, { noRoute: 0, noPort6: 0 }), counts);
}

const KINDS = ['network', 'name_lookup'] as const satisfies readonly NetworkRefusal[];

/**
 * Says to which command the refusals of a network namespace belong. The kernel counts them for the namespace, so they
 * are counted whenever a command comes or leaves: between two such moments the same commands are in the room.
 *
 * 1. A refusal that was counted while a command was alone is its own.
 * 2. One that was counted beside background shells is the command's, unless one of those was refused the same when it
 *    was alone: such a shell tries again and again.
 * 3. Between two commands that wait for their ends it is not counted for either: it would be a guess.
 */
export class RoomLedger {
  readonly #accounts = new Map<Stay, Account>();
  #last: NetworkCounts | undefined;

  enter(isBackground: boolean, now: NetworkCounts | undefined): Stay {
    this.#settle(now);
    const stay: Stay = { isBackground };
    this.#accounts.set(stay, { alone: nothing(), beside: nothing(), company: new Set() });
    return stay;
  }

  /** @returns what was refused to it; the second time nothing */
  leave(stay: Stay, now: NetworkCounts | undefined): readonly NetworkRefusal[] {
    this.#settle(now);
    const account = this.#accounts.get(stay);
    if (account === undefined) return [];
    const found = KINDS.filter((kind) => account.alone[kind] > 0 || this.#isBlamed(stay, account, kind));
    this.#accounts.delete(stay);
    return found;
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0;
  }

  #isBlamed({ isBackground }: Stay, { beside, company }: Account, kind: NetworkRefusal): boolean {
    if (isBackground || beside[kind] === 0) return false;
    return [...company].every(
      (other) => other.isBackground && (this.#accounts.get(other)?.alone[kind] ?? 0) === 0,
    );
  }

  #settle(now: NetworkCounts | undefined): void {
    const last = this.#last;
    this.#last = now;
    if (now === undefined || last === undefined) return;
    const more: Tally = { network: now.noRoute - last.noRoute, name_lookup: now.noPort6 - last.noPort6 };
    if (KINDS.every((kind) => more[kind] === 0)) return;
    for (const [stay, { alone, beside, company }] of this.#accounts) {
      const others = [...this.#accounts.keys()].filter((other) => other !== stay);
      const tally = others.length === 0 ? alone : beside;
      for (const kind of KINDS) tally[kind] += more[kind];
      for (const other of others) company.add(other);
    }
  }
}

function nothing(): Tally {
  return { network: 0, name_lookup: 0 };
}
