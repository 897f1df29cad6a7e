import { describe, expect, it } from 'vitest';
import { availableCapacityBytes, contextTokensOf, estimateTokens, usedTokens } from './context-window.js';
import { says, TOOLS } from './fixtures/ask.js';
import { toNativeMessages } from './messages.js';

describe('what a model takes', () => {
  it.each([
    ['claude-sonnet-4-5-20250929', 200_000],
    ['anthropic/claude-3-5-haiku', 200_000],
    ['claude-2.0', 100_000],
    ['gpt-4o-mini', 128_000],
    ['gpt-4', 8_192],
    ['gpt-4.1-nano', 1_047_576],
    ['openai/gpt-5-mini', 400_000],
    ['gpt-5-chat-latest', 128_000],
    ['o3-mini', 200_000],
    ['gemini-2.5-pro', 1_048_576],
    ['models/gemini-1.5-pro-002', 2_097_152],
    ['llama3.2', undefined],
    ['proto3', undefined],
  ])('%s: %s tokens', (name, tokens) => {
    expect(contextTokensOf(name)).toBe(tokens);
  });
});

describe('what the results of a batch may take (D031)', () => {
  it('is what is left without the answer and a margin, at four bytes a token', () => {
    const capacity = { contextTokens: 100_000, usedTokens: 50_000, reserveTokens: 8_000 };
    expect(availableCapacityBytes(capacity)).toBe((100_000 - 50_000 - 8_000 - 2_000) * 4);
    expect(availableCapacityBytes({ contextTokens: 100_000, usedTokens: 99_000 })).toBe(0);
  });

  it('is never taken whole by the answer', () => {
    const small = { contextTokens: 8_000, usedTokens: 1_000, reserveTokens: 32_000 };
    expect(availableCapacityBytes(small)).toBe((8_000 - 1_000 - 2_000 - 160) * 4);
  });

  it('is 64 KB if it is unknown', () => {
    expect(availableCapacityBytes({})).toBe(65_536);
    expect(availableCapacityBytes({ contextTokens: 100_000 })).toBe(65_536);
    expect(availableCapacityBytes({ usedTokens: 5 })).toBe(65_536);
  });
});

describe('what a conversation takes', () => {
  const text = 'word '.repeat(1_000);

  it('is what the provider has counted, and an estimate of what came since', () => {
    const request = { messages: [says(text)], tools: TOOLS };
    expect(usedTokens(request, { inputTokens: 700, outputTokens: 30 })).toBe(730);
    const added = usedTokens(request, { inputTokens: 700, outputTokens: 30 }, [says(text)]);
    expect(added).toBeGreaterThan(730 + 1_000);
    // Some servers report no counts.
    expect(usedTokens(request, { inputTokens: 0, outputTokens: 0 })).toBe(estimateTokens(request));
  });

  it('is estimated at more than it is, and of pictures not by their bytes', () => {
    expect(estimateTokens({ messages: [says(text)], tools: [] })).toBeGreaterThan(1_000);
    const data = new Uint8Array(5_000_000);
    const picture = { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data }] } as const;
    expect(estimateTokens({ messages: [picture], tools: [] })).toBeLessThan(3_000);
    for (const format of ['anthropic', 'gemini', 'openai', 'openai-responses'] as const) {
      const native = { format, messages: toNativeMessages(format, [picture]) };
      const message = { role: 'tool', results: [], native } as const;
      expect(estimateTokens({ messages: [message], tools: [] })).toBeLessThan(3_000);
    }
    // Data that is not marked as a picture is counted as text.
    const encoded = says(Buffer.from(data).toString('base64'));
    expect(estimateTokens({ messages: [encoded], tools: [] })).toBeGreaterThan(1_000_000);
  });
});
