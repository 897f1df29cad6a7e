#!/usr/bin/env node
// Counts words. Started with --serve it answers many calls, one JSON a line.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const SCHEMA = {
  name: 'word-count',
  version: '1.2.0',
  description: 'Counts the words and characters of a text.',
  tags: ['text'],
  effects: [],
  serve: true,
  max_concurrent: 4,
  input_schema: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  output_schema: {
    type: 'object',
    properties: { words: { type: 'integer' }, characters: { type: 'integer' } },
    required: ['words', 'characters'],
  },
};

function count({ text }) {
  return { words: text.split(/\s+/).filter(Boolean).length, characters: [...text].length };
}

// #region serve
/** The answer to one line: it carries the id of its request. */
function answer({ type, id, arguments: args }) {
  if (type === 'ping') return { type: 'pong', id };
  try {
    return { type: 'result', id, value: count(args) };
  } catch (error) {
    return { type: 'error', id, message: error.message };
  }
}

function serve() {
  createInterface({ input: process.stdin }).on('line', (line) => {
    console.log(JSON.stringify(answer(JSON.parse(line))));
  });
}
// #endregion serve

if (process.argv[2] === '--schema') console.log(JSON.stringify(SCHEMA));
else if (process.argv[2] === '--serve') serve();
else console.log(JSON.stringify(count(JSON.parse(readFileSync(0, 'utf8')))));
