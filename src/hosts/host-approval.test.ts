import { describe, expect, it, onTestFinished } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import { askForHost, type Host, openHost, runForHost } from './host-approval.js';

/** A tool whose effects a test changes while a framework is between its question and the run. */
function world() {
  const seen = { plans: 0, ran: [] as unknown[], effects: [] as Effect[] };
  const say = defineTool({
    name: 'say',
    description: 'Says a text.',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    effects: () => {
      seen.plans += 1;
      return seen.effects;
    },
    execute: (args: JsonObject) => {
      seen.ran.push(args.text);
      return 'said';
    },
  });
  const executor = createExecutor({ tools: [say] });
  onTestFinished(() => executor.close());
  const host: Host = openHost('aiTools', executor, { conversation: 'chat' }, 'test');
  return { seen, host };
}

it('something else than an executor is refused in one sentence', () => {
  for (const value of [undefined, null, 5, {}])
    expect(() => openHost('aiTools', value as never, { conversation: 'chat' }, 'test')).toThrow(
      'Cannot call aiTools(): an executor is expected',
    );
});

describe('a call that needed no approval when its framework asked', () => {
  it('is planned for the question and for the run, and not a third time', async () => {
    const { seen, host } = world();
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    expect(await askForHost(host, call, undefined)).toMatchObject({ needed: false });
    expect(await runForHost(host, call, undefined, undefined)).toMatchObject({ success: true });
    expect(seen).toMatchObject({ plans: 2, ran: ['hello'] });
  });

  it('does not run if it needs approval by then', async () => {
    const { seen, host } = world();
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    await askForHost(host, call, undefined);
    seen.effects = [{ kind: 'unknown' }];
    const { error } = await runForHost(host, call, undefined, undefined);
    expect(error?.code).toBe('approval_unavailable');
    expect(seen.ran).toEqual([]);
  });

  it('does not run with arguments that changed since, or as another call', async () => {
    const { seen, host } = world();
    const args = { text: 'hello' };
    await askForHost(host, { id: 'c1', name: 'say', args }, undefined);
    args.text = 'changed';
    expect((await runForHost(host, { id: 'c1', name: 'say', args }, undefined, undefined)).success).toBe(
      false,
    );
    seen.effects = [{ kind: 'unknown' }];
    expect((await runForHost(host, { id: 'c2', name: 'say', args }, undefined, undefined)).success).toBe(
      false,
    );
    expect(seen.ran).toEqual([]);
  });
});
