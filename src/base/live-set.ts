/** A member of a `LiveSet`; of one at a time. */
export interface LiveMember {
  /** Where it is in the set; -1: in none. The set's own to write. */
  place: number;
}

/**
 * A set of what comes and goes all the time. A `Set` keeps what has left it alive: the tables that it outgrows grow old
 * with all that was in them, and only a collection of the whole heap frees them.
 */
export class LiveSet<T extends LiveMember> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** In no particular order. */
  get members(): readonly T[] {
    return this.#members;
  }

  /** Adds what is in no set. */
  add(member: T): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** False where it is in the set no longer. */
  delete(member: T): boolean {
    const { place } = member;
    const last = this.#members.at(-1);
    if (place < 0 || last === undefined) return false;
    this.#members[place] = last;
    last.place = place;
    this.#members.pop();
    member.place = -1;
    return true;
  }
}
