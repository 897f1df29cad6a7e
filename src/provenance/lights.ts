import type { Effect } from '../contract/effect.js';
import type { Lights, Origin } from '../contract/origin.js';
import { describeEffect, opensWayOut } from '../effects/traits.js';
import { isPrivate, isUntrusted } from '../patterns/origin.js';

/**
 * The three lights of a call, given the origins that its model has seen.
 * @param network whether the call's commands can reach the network
 */
export function lightsOf(seen: readonly Origin[], effects: readonly Effect[], network: boolean): Lights {
  return {
    private: seen.filter(isPrivate),
    untrusted: seen.filter(isUntrusted),
    out: effects.filter((effect) => opensWayOut(effect, network)).map(describeEffect),
  };
}

/** The lights of a conversation, from its results and the calls that ran in it. */
export class ConversationLights {
  readonly #seen = new Set<Origin>();
  #out: readonly string[] = [];

  /** @returns whether another light has come on */
  ran(origin: readonly Origin[], effects: readonly Effect[], network: boolean): boolean {
    const before = countLit(this.lights);
    for (const one of origin) this.#seen.add(one);
    if (this.#out.length === 0) this.#out = lightsOf([], effects, network).out;
    return countLit(this.lights) > before;
  }

  get lights(): Lights {
    const seen = [...this.#seen];
    return { ...lightsOf(seen, [], false), out: this.#out };
  }
}

function countLit(lights: Lights): number {
  return Object.values(lights).filter(({ length }) => length > 0).length;
}
