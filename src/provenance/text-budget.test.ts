import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConversationOrigins } from './conversation-origins.js';
import { type BudgetedTexts, TextBudget } from './text-budget.js';

describe('TextBudget', () => {
  it('holds at most its bytes in all, and drops the conversation that got no text for longest', () => {
    const gifts = fc.array(fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 60 })), { maxLength: 40 });
    fc.assert(
      fc.property(gifts, (all) => {
        const budget = new TextBudget(100);
        const held = new Map<number, number>();
        const texts: BudgetedTexts[] = [0, 1, 2, 3, 4].map((name) => ({ drop: () => held.delete(name) }));
        for (const [name, bytes] of all) {
          const before = [...held.keys()].filter((one) => one !== name);
          held.delete(name);
          if (bytes > 0) held.set(name, bytes);
          budget.holds(texts[name] as BudgetedTexts, bytes);
          expect([...held.values()].reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100);
          const left = before.filter((one) => held.has(one));
          expect(left).toEqual(before.slice(before.length - left.length));
        }
      }),
    );
  });

  it('bug: the texts of a thousand conversations had no bound together', () => {
    const budget = new TextBudget(10_000);
    const conversations = Array.from({ length: 20 }, (_, at) => {
      const conversation = new ConversationOrigins(budget);
      conversation.add(`c${at}`, ['mcp:mail'], `needle-${at} ${'x'.repeat(1_000)}`);
      return conversation;
    });
    const first = conversations[0]?.of({ to: 'needle-0' });
    expect(first).toMatchObject({ seen: ['mcp:mail'], isForgotten: true, args: {} });
    const last = conversations[19]?.of({ to: 'needle-19' });
    expect(last).toMatchObject({ seen: ['mcp:mail'], args: { '/to': ['mcp:mail'] } });
    expect(last).not.toHaveProperty('isForgotten');
  });

  it('is free again of a conversation that was marked clean, which knows all it has seen since', () => {
    const budget = new TextBudget(4_000);
    const [one, other] = [new ConversationOrigins(budget), new ConversationOrigins(budget)];
    one.add('c1', ['mcp:mail'], `needle-1 ${'x'.repeat(1_500)}`);
    other.add('c2', ['mcp:mail'], `needle-2 ${'x'.repeat(1_500)}`);
    expect(one.of({})).toHaveProperty('isForgotten');
    one.clear();
    expect(one.of({})).not.toHaveProperty('isForgotten');
    other.clear();
    one.add('c3', ['web:a.example'], `needle-3 ${'x'.repeat(1_500)}`);
    expect(one.of({ to: 'needle-3' }).args).toEqual({ '/to': ['web:a.example'] });
  });
});
