import type { Model, ModelMessage } from '../src/models.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { interleave } from './measure.js';
import { checkResults, noOpTool } from './no-op.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { type Row, toRow } from './row.js';

const NAME: string = 'toolexec/testing';
const testing: typeof import('../src/testing.js') = await import(NAME);

/**
 * The time that the loop adds to the model's: a turn of two answers and a batch of one call, with a model
 * that answers at once. Beside it, the same steps without the loop: the model's stream, `executor.run`, the
 * answer. Then the time from the last byte of a call to the start of its tool.
 */
export async function measureLoop(scale: Scale): Promise<readonly Row[]> {
  const turns = scale === 'quick' ? 20 : 500;
  const rounds = scale === 'quick' ? { rounds: 1, warmUps: 1 } : { rounds: 15, warmUps: 4 };
  const latency = { arrivedAt: 0, us: 0 };
  const tool = toolexec.defineTool({
    ...noOpTool(),
    execute: async () => {
      latency.us += (performance.now() - latency.arrivedAt) * 1_000;
      return NO_OP_ARGS.message;
    },
  });
  await using executor = toolexec.createExecutor({ tools: [tool] });
  const timed = (): Model =>
    watched(answering(), () => {
      latency.arrivedAt = performance.now();
    });
  const { ours, floor } = await interleave(
    {
      ours: {
        units: turns,
        run: async () => {
          for (let turn = 0; turn < turns; turn++) {
            const loop = toolexec.createToolLoop({ executor, model: timed() });
            checkResults((await loop.run('go')).results, 1);
          }
        },
      },
      floor: {
        units: turns,
        run: async () => {
          for (let turn = 0; turn < turns; turn++) await byHand(timed(), executor);
        },
      },
    },
    rounds,
  );
  latency.us = 0;
  for (let turn = 0; turn < turns; turn++) {
    await toolexec.createToolLoop({ executor, model: timed() }).run('go');
  }
  return [
    toRow('a turn: two answers, one call', ours, ['by hand, the call not recorded as it comes', floor], {
      computing: true,
    }),
    { what: 'from the arrival of a call to the start of its tool', unit: 'µs', ours: latency.us / turns },
  ];
}

function answering(): Model {
  return testing.createScriptedModel([{ calls: [{ name: 'noop', args: NO_OP_ARGS }] }, { text: 'done' }]);
}

function watched(model: Model, onCall: () => void): Model {
  return {
    name: model.name,
    format: model.format,
    async *stream(request, options) {
      for await (const event of model.stream(request, options)) {
        if (event.type === 'call') onCall();
        yield event;
      }
    },
  };
}

async function byHand(model: Model, executor: ReturnType<typeof toolexec.createExecutor>): Promise<void> {
  const messages: ModelMessage[] = [{ role: 'user', content: 'go' }];
  const { signal } = new AbortController();
  for (;;) {
    for await (const event of model.stream({ messages, tools: executor.definitions() }, { signal })) {
      if (event.type !== 'end') continue;
      messages.push(event.message);
      if (event.stopReason !== 'tool_calls') return;
      messages.push(event.answer(await executor.run(event.message.calls)));
    }
  }
}
