import type { NetworkCounts } from '../../platform/process/room-keeper.js';

/** A network refusal to a command. */
export type NetworkRefusal = 'network' | 'name_lookup';

/** The time of one command in a room. */
export interface Stay {
  readonly isBackground: boolean;
}

/** Refusals while a command was in the room, alone or with others. */
interface Account {
  readonly alone: Tally;
  readonly beside: Tally;
  readonly company: Set<Stay>;
}

type Tally = Record<NetworkRefusal, number>;

/** The refusals to a command with its own network namespace. */
export function refusedAlone(counts: NetworkCounts | undefined): readonly NetworkRefusal[] {
  if (counts === undefined) return [];
  const ledger = new RoomLedger();
  return ledger.leave(ledger.enter(false, { noRoute: 0, noPort6: 0 }), counts);
}

const KINDS = ['network', 'name_lookup'] as const satisfies readonly NetworkRefusal[];

/**
 * Attributes the refusals of a network namespace to commands. The kernel counts them per namespace, so they
 * are read whenever a command enters or leaves: in between, the set of commands does not change.
 *
 * 1. A refusal counted while a command was alone belongs to it.
 * 2. A refusal counted next to background shells belongs to the command, unless one of those had the same
 *   refusal when it was alone, because such a shell tries again and again.
 * 3. A refusal counted with two foreground commands belongs to neither, because it would be a guess.
 */
export class RoomLedger {
  readonly #accounts = new Map<Stay, Account>();
  #last: NetworkCounts | undefined;

  enter(isBackground: boolean, now: NetworkCounts | undefined): Stay {
    this.#tally(now);
    const stay: Stay = { isBackground };
    this.#accounts.set(stay, { alone: nothing(), beside: nothing(), company: new Set() });
    return stay;
  }

  /** @returns its refusals; empty the second time */
  leave(stay: Stay, now: NetworkCounts | undefined): readonly NetworkRefusal[] {
    this.#tally(now);
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

  #tally(now: NetworkCounts | undefined): void {
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
