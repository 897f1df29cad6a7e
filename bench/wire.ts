import type { ToolCall, ToolResult, WireFormat } from '../src/protocols.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type RoundOptions } from './measure.js';
import { type Row, toRow } from './row.js';

const NAME: string = 'toolexec/protocols';
const protocols: typeof import('../src/protocols.js') = await import(NAME);

const FORMATS: readonly WireFormat[] = [
  'native',
  'fenced',
  'anthropic',
  'openai',
  'openai-responses',
  'gemini',
];
const BYTES = 1_000_000;
const LINE = 'const answer = "forty-two"; // a line of code, as models write them\n';

/** Reading and writing a megabyte in every format, beside the `JSON.parse` and `JSON.stringify` that it cannot do without. */
export async function measureWire(scale: Scale): Promise<readonly Row[]> {
  const options = { rounds: scale === 'quick' ? 2 : 20, warmUps: scale === 'quick' ? 1 : 4 };
  const rows: Row[] = [];
  for (const format of FORMATS) {
    for (const [what, calls] of [
      ['many calls', manyCalls()],
      ['one big argument', [bigCall()]],
    ] as const) {
      rows.push(await measureReading(format, what, calls, options));
      rows.push(await measureWriting(format, what, calls, options));
    }
  }
  return rows;
}

function manyCalls(): readonly ToolCall[] {
  return Array.from({ length: BYTES / 125 }, (_, index) => ({
    id: `call_${String(index).padStart(8, '0')}`,
    name: 'read_file',
    args: { path: `src/deep/file-${index}.ts`, start_line: index + 1, end_line: index + 20 },
  }));
}

function bigCall(): ToolCall {
  const content = LINE.repeat(BYTES / LINE.length);
  return { id: 'call_00000000', name: 'write_file', args: { path: 'src/big.ts', content } };
}

async function measureReading(
  format: WireFormat,
  what: string,
  calls: readonly ToolCall[],
  options: RoundOptions,
): Promise<Row> {
  const text = TEXTS[format](calls);
  // Prose is no JSON. If arguments are text inside of it, every reader has to parse them too.
  const json = format === 'fenced' ? TEXTS.native(calls) : text;
  const inner = format.startsWith('openai') ? calls.map(({ args }) => JSON.stringify(args)) : [];
  if (protocols.readCalls(text).calls.length !== calls.length)
    throw new Error(`${format} was not read whole`);
  const { ours, floor } = await interleave(
    { ours: once(() => protocols.readCalls(text)), floor: once(() => [json, ...inner].map(parse)) },
    options,
  );
  return toRow(`${format}: reading ${what}`, ours, ['JSON.parse', floor], REPORT);
}

async function measureWriting(
  format: WireFormat,
  what: string,
  calls: readonly ToolCall[],
  options: RoundOptions,
): Promise<Row> {
  const results = calls.map(toResult);
  const written = protocols.writeResults(format, results);
  const { ours, floor } = await interleave(
    {
      ours: once(() => JSON.stringify(protocols.writeResults(format, results))),
      floor: once(() => JSON.stringify(written)),
    },
    options,
  );
  return toRow(`${format}: writing ${what}`, ours, ['JSON.stringify', floor], REPORT);
}

// Milliseconds: a thousand units a run make a thousandth of each.
const REPORT = { computing: true, unit: 'ms', goal: { of: 'ratio', atMost: 10 } } as const;

function parse(text: string): unknown {
  return JSON.parse(text);
}

function once(run: () => unknown): Contender {
  return { units: 1000, run };
}

function toResult({ id, name, args }: ToolCall): ToolResult {
  return {
    callId: id,
    toolName: name,
    success: true,
    output: typeof args.content === 'string' ? args.content : LINE,
    truncated: false,
    executionTimeMs: 1,
    metadata: { path: String(args.path) },
  };
}

const TEXTS: { readonly [format in WireFormat]: (calls: readonly ToolCall[]) => string } = {
  native: (calls) => JSON.stringify(calls),
  fenced: (calls) => calls.map((call) => `\`\`\`tool\n${JSON.stringify(call)}\n\`\`\`\n`).join('And:\n'),
  anthropic: (calls) =>
    JSON.stringify({
      role: 'assistant',
      content: calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
    }),
  openai: (calls) =>
    JSON.stringify({
      role: 'assistant',
      content: null,
      tool_calls: calls.map(({ id, name, args }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      })),
    }),
  'openai-responses': (calls) =>
    JSON.stringify({
      object: 'response',
      output: calls.map(({ id, name, args }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: JSON.stringify(args),
      })),
    }),
  gemini: (calls) =>
    JSON.stringify({
      candidates: [
        {
          content: {
            role: 'model',
            parts: calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
          },
        },
      ],
    }),
};
