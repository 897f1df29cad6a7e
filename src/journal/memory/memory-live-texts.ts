import type { CallKey, LiveText } from '../../contract/journal.js';
import { LIVE_MS, MOST_KEPT, MOST_TEXTS } from '../records/live-text.js';

/** The live output of running calls in a memory journal. */
export class MemoryLiveTexts {
  private kept: (LiveText & { readonly at: number })[] = [];

  add(texts: readonly LiveText[], at: number): void {
    const all = [...this.kept, ...texts.map((text) => ({ ...text, at }))];
    this.kept = all.slice(-MOST_KEPT).filter((text) => text.at >= at - LIVE_MS);
  }

  from(places: ReadonlyMap<CallKey, number>): readonly LiveText[] {
    const found = this.kept.filter(({ key, from }) => from >= (places.get(key) ?? Number.POSITIVE_INFINITY));
    return found.slice(0, MOST_TEXTS).map(({ key, stream, from, text }) => ({ key, stream, from, text }));
  }
}
