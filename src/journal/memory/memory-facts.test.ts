import { describe, expect, it } from 'vitest';
import { MemoryFacts } from './memory-facts.js';

const facts = (...keys: readonly string[]) => keys.map((key) => ({ key, value: key, at: 1 }));
const known = (memory: MemoryFacts, conversation: string) =>
  memory.recall(conversation).facts.map(({ key }) => key);

describe('MemoryFacts', () => {
  it('forgets whole conversations, least recently extended first', () => {
    const memory = new MemoryFacts(4);
    memory.add('old', facts('a', 'b'));
    memory.add('young', facts('c', 'd'));
    memory.add('old', facts('b'));
    memory.add('new', facts('e'));
    expect([known(memory, 'old'), known(memory, 'young'), known(memory, 'new')]).toEqual([
      ['a', 'b'],
      [],
      ['e'],
    ]);
  });

  it('keeps the newest facts of a single conversation that is too large', () => {
    const memory = new MemoryFacts(3);
    memory.add('other', facts('x'));
    memory.add('large', facts('a', 'b', 'c', 'd', 'e'));
    expect([known(memory, 'other'), known(memory, 'large')]).toEqual([[], ['c', 'd', 'e']]);
    memory.add('large', facts('c', 'f'));
    expect(known(memory, 'large')).toEqual(['d', 'e', 'f']);
  });
});
