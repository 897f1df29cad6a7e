import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FakeBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object };

export interface FakeAnthropic {
  readonly url: string;
  /** The bodies of requests. */
  readonly seen: readonly string[];
  close(): void;
}

/**
 * A server on this machine that acts as Anthropic's API. It repeats this answer until it receives the result of a tool.
 */
export async function fakeAnthropic(said: readonly FakeBlock[]): Promise<FakeAnthropic> {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.method !== 'POST') return response.end();
    seen.push(body);
    const isAnswered = body.includes('"tool_result"');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.end(eventsOf(isAnswered ? [{ type: 'text', text: 'done' }] : said));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, seen, close: () => void server.close() };
}

function eventsOf(blocks: readonly FakeBlock[]): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage };
  const stop_reason = blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
  const events: readonly (readonly [string, object])[] = [
    ['message_start', { message: { ...message, stop_reason: null } }],
    ...blocks.flatMap(blockEvents),
    ['message_delta', { delta: { stop_reason }, usage }],
    ['message_stop', {}],
  ];
  return events
    .map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
    .join('');
}

function blockEvents(block: FakeBlock, index: number): (readonly [string, object])[] {
  const [content_block, delta] =
    block.type === 'text'
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
        ];
  return [
    ['content_block_start', { index, content_block }],
    ['content_block_delta', { index, delta }],
    ['content_block_stop', { index }],
  ];
}
