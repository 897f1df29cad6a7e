/** A member of a `LiveSet`. It can be in one set at a time. */
export interface LiveMember {
  /** The index in the set, or -1. Only the set writes it. */
  place: number;
}

/**
 * A set for members that come and go all the time. A `Set` keeps removed members alive: its old tables reach
 * the old generation of the heap, and only a full garbage collection frees them.
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

  /** Adds a member that is in no set. */
  add(member: T): void {
    member.place = this.#members.length;
    this.#members.push(member);
  }

  /** False if the member is not in this set. */
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
