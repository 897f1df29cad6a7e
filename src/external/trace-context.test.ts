import { describe, expect, it } from 'vitest';
import type { ExternalSpan } from '../contract/external.js';
import { eachOf } from '../testing/fixtures/each-of.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { servingScript } from './fixtures/serving-program.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';
import type { BeginSpan } from './trace-context.js';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const SAYS = `printf '["%s","%s"]' "$TRACEPARENT" "$TRACESTATE"`;

/** One call of a tool: the trace context that it received, and the log. */
async function call(trace: BeginSpan | undefined, script = scriptOf(SAYS, DOCUMENT)) {
  using folder = new ToolsFolder();
  folder.add('tool', script);
  const logged: string[] = [];
  const logger = { warn: (_data: object, message: string) => void logged.push(message) };
  await using service = await openTools(folder.path, { logger, ...(trace === undefined ? {} : { trace }) });
  await using executor = executorFor(service);
  const result = await executor.execute('tool', {});
  return { result, said: result.structured, logged };
}

const DOCUMENT = { input_schema: { type: 'object' }, output_schema: {} };

describe('the trace of a call (E047)', () => {
  it('is passed on in the environment, with a span that ends with the call', async () => {
    const asked: unknown[] = [];
    const ended: unknown[] = [];
    const trace: BeginSpan = (about) => {
      asked.push(about);
      return { traceparent: PARENT, tracestate: 'vendor=1', end: (outcome) => ended.push(outcome) };
    };
    expect((await call(trace)).said).toEqual([PARENT, 'vendor=1']);
    expect(asked).toEqual([{ tool: 'tool', callId: expect.any(String) }]);
    expect(ended).toEqual([{ durationMs: expect.any(Number) }]);
    await call(trace, scriptOf('exit 1', DOCUMENT));
    expect(ended[1]).toEqual({ durationMs: expect.any(Number), code: 'execution_failed' });
  });

  it('is passed on to a serving process with each request', async () => {
    const { said } = await call(() => ({ traceparent: PARENT }), servingScript('answer "$line"'));
    expect(said).toMatchObject({ type: 'call', trace: { traceparent: PARENT } });
  });

  it('is that of this program by default', async () => {
    process.env.TRACEPARENT = PARENT;
    try {
      expect((await call(undefined)).said).toEqual([PARENT, '']);
    } finally {
      delete process.env.TRACEPARENT;
    }
  });

  eachOf<[string, BeginSpan]>(
    [
      [
        'throws',
        () => {
          throw new Error('no tracer');
        },
      ],
      ['gives something else', () => ({ traceparent: 'PATH=/tmp' })],
      ['gives zeros', () => ({ traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` })],
      ['gives none', () => undefined],
      ['gives no text', () => ({ traceparent: 5 }) as unknown as ExternalSpan],
    ],
    1,
  )('costs no call: a function that %s', async (_what, trace) => {
    const { result, said } = await call(trace);
    expect([result.success, said]).toEqual([true, ['', '']]);
  });

  it('logs a function that throws', async () => {
    const { logged } = await call(() => ({
      traceparent: PARENT,
      end: () => {
        throw new Error('closed');
      },
    }));
    expect(logged).toEqual(['trace threw']);
  });
});
