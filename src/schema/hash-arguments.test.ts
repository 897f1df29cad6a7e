import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashArguments } from './hash-arguments.js';

describe('hashArguments()', () => {
  it('is the SHA-256 of the canonical JSON', () => {
    const expected = createHash('sha256').update('{"a":[1,{"c":null,"d":"é"}],"b":true}').digest('hex');
    expect(hashArguments({ b: true, a: [1, { d: 'é', c: null }] })).toBe(expected);
  });

  it('tells different arguments apart', () => {
    const hashes = [{}, { a: 1 }, { a: '1' }, { a: [1] }, { a: null }, { b: 1 }].map(hashArguments);
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
