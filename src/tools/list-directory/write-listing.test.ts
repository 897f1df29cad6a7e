import { expect, test } from 'vitest';
import type { ListEntry } from './walk-directory.js';
import { writeListing } from './write-listing.js';

function entry(name: string): ListEntry {
  return {
    name,
    path: name,
    depth: 1,
    type: 'file',
    size_bytes: 1,
    modified_epoch_ms: 1,
    is_hidden: false,
    error_code: null,
    error: null,
  };
}

test('writeListing() returns exactly as many entries as the budget holds, at every byte', () => {
  const request = { path: 'é', maxEntries: 200 };
  const names = ['a', 'bé', 'c😀', 'd\u0085', 'e"\n', 'f', 'g', 'h', 'i', 'j', 'k'];
  const entries = names.map(entry);
  const sizes = entries.map((_, count) => {
    const kept = writeListing(request, { entries: entries.slice(0, count), more: true }, 1_000_000);
    const sameLengthReason = kept?.text.replace('"max_entries"}', '"max_output_bytes"}') ?? '';
    return Buffer.byteLength(sameLengthReason);
  });
  for (let budget = 0; budget < (sizes.at(-1) ?? 0) + 20; budget++) {
    const listing = writeListing(request, { entries, more: false }, budget);
    const fitting = sizes.filter((size) => size <= budget).length - 1;
    expect(listing?.returned).toBe(fitting < 0 ? undefined : fitting);
    if (listing !== undefined) expect(Buffer.byteLength(listing.text)).toBeLessThanOrEqual(budget);
  }
});
