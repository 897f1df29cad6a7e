import { expect, it } from 'vitest';
import { toContent, toQuestions } from './form-questions.js';

const form = (properties: object, required: string[] = []) => ({
  mode: 'form' as const,
  message: 'Who?',
  requestedSchema: { type: 'object' as const, properties: properties as never, required },
});

it('a value that the form of another server gives for an empty field was left out', () => {
  const properties = {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', title: 'Age', default: 30 },
    status: { type: 'string', enum: ['active', 'inactive'], default: 'active' },
    verified: { type: 'boolean', default: true },
    extras: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a'] },
    free: { type: 'string' },
  };
  const questions = toQuestions('up', form(properties, ['name']));
  expect(questions.map(({ question }) => question).slice(1)).toEqual([
    'name (left empty: "John Doe")',
    'Age (left empty: 30)',
    'status (left empty: "active")',
    'verified (left empty: true)',
    'extras (left empty: ["a"])',
    'free',
  ]);
  const empty = questions.map(() => ({ chosen: [] }));
  expect(toContent(questions, empty)).toEqual({
    name: 'John Doe',
    age: 30,
    status: 'active',
    verified: true,
    extras: ['a'],
  });
  const filled = empty.map((answer, at) => (at === 1 ? { chosen: [], other: 'Eve' } : answer));
  expect(toContent(questions, filled)).toMatchObject({ name: 'Eve', age: 30 });
});

it('a form value that does not fit its own field fills in nothing', () => {
  const properties = {
    age: { type: 'integer', default: 'old' },
    status: { type: 'string', enum: ['active'], default: 'gone' },
    size: { type: 'number', maximum: 2, default: 3 },
    list: { type: 'array', items: { type: 'string' }, default: [1] },
  };
  const questions = toQuestions('up', form(properties));
  expect(questions.slice(1).map(({ question }) => question)).toEqual(['age', 'status', 'size', 'list']);
  expect(
    toContent(
      questions,
      questions.map(() => ({ chosen: [] })),
    ),
  ).toEqual({});
});
