import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Server } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/contract/json.js';
import type { Question } from '../../src/contract/question.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { createMcpServer } from '../../src/mcp/create-mcp-server.js';
import { serveOverHttp } from '../../src/mcp/serve-http.js';
import { addParts } from './conformance-parts.js';

const TOKEN = 'a-token-of-the-tests';
/** A picture of one pixel, and a sound of no length. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);
const WAV = Buffer.from('UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=', 'base64');

/**
 * The tools that the official suite requires, in front of our server. The suite sends no token, so a small proxy adds
 * it.
 * @param parts `ours`: what `createMcpServer` offers; `added`: with handlers that a program adds for the other parts
 */
export async function serveConformance(parts: 'ours' | 'added'): Promise<string> {
  const open = () => {
    let server: Server | undefined;
    const tools = suiteTools(() => server);
    const executor = createExecutor({ tools, policy: null, approver: null, journal: false });
    const create = (): Server => {
      server = createMcpServer(executor);
      return parts === 'added' ? addParts(server, PNG.toString('base64')) : server;
    };
    return { executor, create };
  };
  const shared = open();
  const serving = await serveOverHttp({
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    shared: shared.create,
    async open() {
      const own = open();
      return { create: own.create, release: () => own.executor.close() };
    },
    report: () => {},
  });
  const front = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${TOKEN}` };
    const passed = request(serving.url, { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    front.closeAllConnections();
    front.close();
    await serving.close();
    await shared.executor.close();
  });
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
}

/** @param server of the session: two tools of the suite send its client messages outside of their call. */
function suiteTools(server: () => Server | undefined) {
  const text = (words: string) => ({ type: 'text', text: words }) as const;
  const image = { type: 'image', mediaType: 'image/png', data: PNG } as const;
  const document = {
    type: 'resource',
    uri: 'test://embedded-resource',
    mediaType: 'text/plain',
    text: 'This is an embedded resource content.',
  } as const;
  const plain = (name: string, execute: Parameters<typeof defineTool>[0]['execute']) =>
    defineTool({
      name,
      description: `${name} of the suite.`,
      input: { type: 'object' },
      effects: () => [],
      execute,
    });
  return [
    plain('test_simple_text', () => 'This is a simple text response for testing.'),
    plain('test_image_content', () => ({ content: [image] })),
    plain('test_audio_content', () => ({ content: [{ type: 'audio', mediaType: 'audio/wav', data: WAV }] })),
    plain('test_embedded_resource', () => ({ content: [document] })),
    plain('test_multiple_content_types', () => ({
      content: [
        text('Multiple content types test:'),
        image,
        {
          ...document,
          uri: 'test://mixed-content-resource',
          mediaType: 'application/json',
          text: '{"test":"data"}',
        },
      ],
    })),
    plain('test_error_handling', () => {
      throw new Error('This tool intentionally returns an error for testing');
    }),
    plain('test_tool_with_progress', async (_, { emit }) => {
      for (const step of [0, 50, 100]) {
        await emit(`${step}/100\n`);
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      return 'done';
    }),
    plain('test_reconnection', () => 'there'),
    plain('test_tool_with_logging', async () => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await server()?.sendLoggingMessage({ level: 'info', data });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return 'logged';
    }),
    plain('test_sampling', async (args) => {
      const { prompt = '' } = args as { readonly prompt?: string };
      // The client opens its stream for requests only after it has started.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const said = await server()?.createMessage({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      return `LLM response: ${JSON.stringify(said?.content)}`;
    }),
    defineTool({
      name: 'json_schema_2020_12_tool',
      description: 'Tool with JSON Schema 2020-12 features',
      input: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
        },
        properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
        additionalProperties: false,
      },
      effects: () => [],
      execute: () => 'fine',
    }),
    asking('test_elicitation', { username: { type: 'string' }, email: { type: 'string' } }),
    asking('test_elicitation_sep1034_defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
    asking('test_elicitation_sep1330_enums', {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('value', 'Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
      titledMulti: { type: 'array', items: { anyOf: titled('value', 'Choice') } },
    }),
  ];
}

function titled(value: string, title: string) {
  return ['First', 'Second', 'Third'].map((word, at) => ({
    const: `${value}${at + 1}`,
    title: `${word} ${title}`,
  }));
}

/** A tool that asks for these values. */
function asking(name: string, fields: Readonly<Record<string, JsonObject>>) {
  return defineTool({
    name,
    description: `${name} of the suite.`,
    input: { type: 'object', properties: { message: { type: 'string' } } },
    touches: ['ask'],
    effects: () => [{ kind: 'ask' }],
    async execute({ message = 'Please answer.' }, { ask }) {
      const consent: Question = {
        header: name,
        question: message,
        options: [{ label: 'Answer' }, { label: 'Decline' }],
        multiSelect: false,
        form: { kind: 'consent' },
      };
      const questions = Object.entries(fields).map(
        ([field, schema]): Question => ({
          header: field,
          question: field,
          options: [],
          multiSelect: false,
          form: { kind: 'field', name: field, schema, required: false },
        }),
      );
      const answers = await ask?.([consent, ...questions]);
      return `User response: ${JSON.stringify(answers ?? 'none')}`;
    },
  });
}
