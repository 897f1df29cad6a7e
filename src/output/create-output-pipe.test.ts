import { describe, expect, it } from 'vitest';
import { createOutputPipe } from './create-output-pipe.js';

describe('createOutputPipe', () => {
  it('neutralises, then hides values, over chunk borders', () => {
    const pipe = createOutputPipe(['hunter2-hunter2']);
    const chunks = ['a hunter', '2-\x1b[3', '1mhun', Buffer.from('ter2 \xe9'), 'b\r'];
    expect(chunks.map((chunk) => pipe.push(chunk)).join('') + pipe.end()).toBe('a [REDACTED] éb\n');
  });
});
