import { describe, expect, it, onTestFinished } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { ToolEvent } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import { startUnasked } from '../executor/run-with-ticket.js';
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

  it('has a ticket beside the answer that starts it, and both together run it once', async () => {
    const { seen, host } = world();
    const { executor } = host;
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    const at = { conversation: 'chat' };
    const answer = await executor.ask(call, at);
    const first = await startUnasked(executor, answer, call, at)?.results;
    const { ticket } = JSON.parse(JSON.stringify(answer)) as typeof answer;
    expect(first).toMatchObject([{ success: true, output: 'said' }]);
    expect(await executor.run([call], { ...at, ticket })).toMatchObject([{ metadata: { replayed: true } }]);
    expect(await startUnasked(executor, answer, call, at)?.results).toMatchObject([
      { metadata: { replayed: true } },
    ]);
    expect(seen.ran).toEqual(['hello']);
  });

  it('is started by its answer with the arguments that were asked about, which a tool cannot change', async () => {
    const { seen, host } = world();
    const { executor } = host;
    const at = { conversation: 'chat' };
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    const answer = await executor.ask(call, at);
    const run = startUnasked(executor, answer, call, at);
    call.args.text = 'changed';
    expect(await run?.results).toMatchObject([{ success: true }]);
    expect(seen.ran).toEqual(['hello']);
  });

  it('is not started by the answer about another call, or of an executor that a program has wrapped', async () => {
    const { seen, host } = world();
    const { executor } = host;
    const at = { conversation: 'chat' };
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    const answer = await executor.ask(call, at);
    const others = [
      startUnasked(executor, answer, { ...call, id: 'c2' }, at),
      startUnasked(executor, answer, { ...call, name: 'shout' }, at),
      startUnasked(executor, answer, { ...call, args: { text: 'other' } }, at),
      startUnasked(executor, answer, { ...call, args: { text: 'hello', more: 1 } }, at),
      startUnasked(executor, answer, call, { conversation: 'other' }),
      startUnasked(executor, { ...answer }, call, at),
      startUnasked(Object.create(executor), answer, call, at),
    ];
    expect(others).toEqual(others.map(() => undefined));
    expect(seen.ran).toEqual([]);
  });

  it('is started without events but its output, and is not planned for them', async () => {
    const { host } = world();
    const { executor } = host;
    const at = { conversation: 'chat' };
    const call = { id: 'c1', name: 'say', args: { text: 'hello' } };
    const run = startUnasked(executor, await executor.ask(call, at), call, at);
    const events: ToolEvent[] = [];
    for await (const event of run?.events ?? []) events.push(event);
    expect(events).toEqual([]);
    expect(await run?.results).toMatchObject([{ success: true }]);
  });
});
