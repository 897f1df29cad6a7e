// The events of a streamed answer as OpenAI's Chat Completions send them, for `serveModel`.

/** One answer of a model. */
export interface Spoken {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}

export function speakOpenai({ text, calls = [] }: Spoken): readonly object[] {
  const asked = calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    ...(text === undefined ? [] : [toChunk({ content: text })]),
    ...(asked.length === 0 ? [] : [toChunk({ tool_calls: asked })]),
    toChunk({}, asked.length === 0 ? 'stop' : 'tool_calls'),
  ];
}

function toChunk(delta: object, finish_reason: string | null = null): object {
  return { id: 'chatcmpl_1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] };
}
