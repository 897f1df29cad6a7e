import type { LoopResult } from '../../loop/loop-contract.js';

/** The line below a turn: its tokens, and the remaining context. */
export function describeUse({ usage, context }: Pick<LoopResult, 'usage' | 'context'>): string {
  const { inputTokens, outputTokens } = usage;
  const counted =
    inputTokens + outputTokens === 0
      ? []
      : [`${inThousands(inputTokens)} tokens in, ${inThousands(outputTokens)} out`];
  return [...counted, describeContext(context)].join(' · ');
}

function describeContext({ usedTokens, contextTokens }: LoopResult['context']): string {
  if (contextTokens === undefined) return `about ${inThousands(usedTokens)} tokens of context used`;
  const left = Math.max(0, contextTokens - usedTokens);
  const percent = Math.floor((100 * left) / contextTokens);
  return `${percent} % of the context left (${inThousands(left)} of ${inThousands(contextTokens)} tokens)`;
}

/** `950`, `1.2k`, `200k`, `1.05M` */
function inThousands(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`;
  return tokens < 1e6 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(2)}M`;
}
