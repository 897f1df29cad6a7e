export type ProviderName = 'anthropic' | 'openai' | 'openaiResponses' | 'gemini';

/** About a megabyte of server-sent events of one answer. */
export interface RecordedStream {
  /** Also the beginning of its address. */
  readonly name: string;
  readonly provider: ProviderName;
  readonly what: string;
  readonly wire: string;
  readonly bytes: number;
  /** How long the text is, or the text in the call's argument. */
  readonly characters: number;
}

const BYTES = 1_000_000;
/** The text of one event of a model. */
const PIECE = ' token';

interface Shape {
  readonly before: readonly object[];
  readonly piece: (text: string) => object;
  readonly after: readonly object[];
}

const chunk = (delta: object, finish_reason: string | null = null): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'gpt-5',
  choices: [{ index: 0, delta, finish_reason }],
});
const fragment = (more: object): object => chunk({ tool_calls: [{ index: 0, ...more }] });
const delta = (more: object): object => ({ type: 'content_block_delta', index: 0, delta: more });
const block = (content_block: object): readonly object[] => [
  {
    type: 'message_start',
    message: { id: 'msg_1', role: 'assistant', content: [], usage: { input_tokens: 1, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block },
];
const blockEnd = (stop_reason: string): readonly object[] => [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];
const completed = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } };
const part = (text: string, more: object = {}): object => ({
  responseId: 'gem_1',
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }],
});

const TEXTS: Readonly<Record<ProviderName, Shape>> = {
  anthropic: {
    before: block({ type: 'text', text: '' }),
    piece: (text) => delta({ type: 'text_delta', text }),
    after: blockEnd('end_turn'),
  },
  openai: {
    before: [chunk({ role: 'assistant', content: '' })],
    piece: (content) => chunk({ content }),
    after: [chunk({}, 'stop')],
  },
  openaiResponses: {
    before: [],
    piece: (text) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
    }),
    after: [completed],
  },
  gemini: { before: [], piece: (text) => part(text), after: [part('', { finishReason: 'STOP' })] },
};

/** One call with a long argument. Gemini sends calls whole. */
const CALLS: Readonly<Partial<Record<ProviderName, Shape>>> = {
  anthropic: {
    before: [
      ...block({ type: 'tool_use', id: 'a', name: 'write_file', input: {} }),
      delta({ type: 'input_json_delta', partial_json: '{"content":"' }),
    ],
    piece: (partial_json) => delta({ type: 'input_json_delta', partial_json }),
    after: [delta({ type: 'input_json_delta', partial_json: '"}' }), ...blockEnd('tool_use')],
  },
  openai: {
    before: [
      chunk({ role: 'assistant', content: null }),
      fragment({ id: 'a', type: 'function', function: { name: 'write_file', arguments: '{"content":"' } }),
    ],
    piece: (args) => fragment({ function: { arguments: args } }),
    after: [fragment({ function: { arguments: '"}' } }), chunk({}, 'tool_calls')],
  },
};

export const STREAMS: readonly RecordedStream[] = [
  ...Object.entries(TEXTS).map(([provider, shape]) => record(provider as ProviderName, 'a text', shape)),
  ...Object.entries(CALLS).map(([provider, shape]) => record(provider as ProviderName, 'a call', shape)),
];

function record(provider: ProviderName, what: string, { before, piece, after }: Shape): RecordedStream {
  const one = toWire(piece(PIECE));
  const count = Math.ceil(BYTES / one.length);
  const wire = [...before.map(toWire), one.repeat(count), ...after.map(toWire)].join('');
  const name = `${provider}-${what.replace('a ', '')}`;
  return { name, provider, what, wire, bytes: wire.length, characters: count * PIECE.length };
}

function toWire(event: object): string {
  const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
