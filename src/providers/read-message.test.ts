import { describe, expect, it } from 'vitest';
import { readMessage } from './read-message.js';

describe('the message that calls came with', () => {
  it.each([
    [
      'anthropic',
      {
        model: 'claude-x',
        content: [
          { type: 'thinking', thinking: 'hm' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'read_file', input: {} },
          { type: 'text', text: 'And then?' },
        ],
      },
      { text: 'I look.\nAnd then?', model: 'claude-x', provider: 'anthropic' },
    ],
    [
      'openai',
      { model: 'gpt-x', choices: [{ message: { role: 'assistant', content: 'I look.', tool_calls: [] } }] },
      { text: 'I look.', model: 'gpt-x', provider: 'openai' },
    ],
    [
      'openai',
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }] },
      { text: 'I look.', provider: 'openai' },
    ],
    [
      'openai-responses',
      {
        model: 'gpt-x',
        output: [
          { type: 'reasoning', summary: [] },
          { type: 'message', content: [{ type: 'output_text', text: 'I look.' }] },
          { type: 'function_call', call_id: 'a', name: 'read_file', arguments: '{}' },
        ],
      },
      { text: 'I look.', model: 'gpt-x', provider: 'openai' },
    ],
    [
      'gemini',
      {
        modelVersion: 'gemini-x',
        candidates: [
          { content: { parts: [{ text: 'hm', thought: true }, { text: 'I ' }, { text: 'look.' }] } },
        ],
      },
      { text: 'I look.', model: 'gemini-x', provider: 'google' },
    ],
    ['fenced', 'I look.\n```tool\n{"name":"a"}\n```', { text: 'I look.\n```tool\n{"name":"a"}\n```' }],
    ['native', [{ id: 'a', name: 'read_file', args: {} }], undefined],
    ['anthropic', { content: [{ type: 'tool_use', id: 'a', name: 'read_file', input: {} }] }, undefined],
    ['gemini', { candidates: 'many', content: 7 }, undefined],
    ['openai', null, undefined],
  ] as const)('of %s', (format, response, message) => {
    expect(readMessage(format, response)).toEqual(message);
    if (format !== 'fenced') expect(readMessage(format, JSON.stringify(response))).toEqual(message);
  });

  it('is undefined if the text is not JSON: a recorded stream', () => {
    expect(readMessage('anthropic', 'data: {"type":"message_start"}\n\n')).toBeUndefined();
  });
});
