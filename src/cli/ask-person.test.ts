import { describe, expect, it } from 'vitest';
import { parseAnswer } from './ask-person.js';

const ONE = {
  header: 'Color',
  question: 'Which?',
  options: [{ label: 'Red' }, { label: 'Blue' }],
  multiSelect: false,
};

describe('what the person types', () => {
  it.each([
    ['2', ONE, { chosen: ['Blue'] }],
    ['2, 1 2', { ...ONE, multiSelect: true }, { chosen: ['Blue', 'Red'] }],
    ['1 2', ONE, 'One number is expected.'],
    ['3', ONE, 'There is no choice 3.'],
    ['0', ONE, 'There is no choice 0.'],
    ['purple, please', ONE, { chosen: [], other: 'purple, please' }],
    ['1 of them', ONE, { chosen: [], other: '1 of them' }],
  ])('%j is read as numbers or as own words', (line, question, expected) => {
    expect(parseAnswer(line, question)).toEqual(expected);
  });
});
