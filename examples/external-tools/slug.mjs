#!/usr/bin/env node
// A title as it stands in an address.
import { readFileSync } from 'node:fs';

const SCHEMA = {
  name: 'slug',
  version: '1.0.0',
  description: 'Turns a title into the part of an address: "Größe & Maß" becomes "grosse-mass".',
  tags: ['text'],
  effects: [],
  input_schema: {
    type: 'object',
    properties: { title: { type: 'string' } },
    required: ['title'],
    additionalProperties: false,
  },
  output_schema: { type: 'object', properties: { slug: { type: 'string' } }, required: ['slug'] },
};

if (process.argv[2] === '--schema') {
  console.log(JSON.stringify(SCHEMA));
} else {
  const { title } = JSON.parse(readFileSync(0, 'utf8'));
  const plain = title
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '');
  console.log(JSON.stringify({ slug: plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') }));
}
