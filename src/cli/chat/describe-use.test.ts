import { describe, expect, it } from 'vitest';
import { describeUse } from './describe-use.js';

describe('describeUse()', () => {
  it.each([
    [1234, 56, 1290, 200_000, '1.2k tokens in, 56 out · 99 % of the context left (199k of 200k tokens)'],
    [0, 0, 900, undefined, 'about 900 tokens of context used'],
    [9_000, 1_000, 11_000, 10_000, '9.0k tokens in, 1.0k out · 0 % of the context left (0 of 10k tokens)'],
    [5, 5, 10, 1_048_576, '5 tokens in, 5 out · 99 % of the context left (1.05M of 1.05M tokens)'],
  ])('says %j', (inputTokens, outputTokens, usedTokens, contextTokens, line) => {
    const context = { usedTokens, ...(contextTokens === undefined ? {} : { contextTokens }) };
    expect(describeUse({ usage: { inputTokens, outputTokens }, context })).toBe(line);
  });
});
