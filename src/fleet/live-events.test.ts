import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolContext } from '../contract/context.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { createFleetServer } from './create-fleet-server.js';
import { createWorker } from './create-worker.js';
import { SHARED_KINDS, sharedJournals } from './fixtures/shared-journals.js';
import { FleetTokens } from './fleet-tokens.js';

interface Received {
  readonly type: string;
  readonly id: string;
  /** Each test reads the fields of its events. */
  readonly data: {
    readonly state?: string;
    readonly chunk?: string;
    readonly missed?: number;
    readonly result?: { readonly output: string };
  };
}

interface Stream {
  readonly events: Received[];
  /** The output that was received. */
  printed(): string;
  stop(): Promise<void>;
}

const journals = sharedJournals();

async function listen(url: string, token: string, lastEventId?: string): Promise<Stream> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${url}/v1/events`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: stop.signal,
  });
  const events: Received[] = [];
  const reading = (async () => {
    let text = '';
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) =>
          block
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2) ?? '';
        if (field('data') !== '')
          events.push({ type: field('event'), id: field('id'), data: JSON.parse(field('data')) });
      }
    }
  })().catch(() => {});
  return {
    events,
    printed: () =>
      events
        .filter(({ type }) => type === 'output')
        .map(({ data }) => data.chunk)
        .join(''),
    async stop() {
      stop.abort();
      await reading;
    },
  };
}

describe.each(SHARED_KINDS)('events of a fleet over %s', (kind) => {
  const isMissing = journals.isMissing(kind);

  async function openFleet() {
    const opened = journals.create(kind);
    const says: ((text: string | undefined) => void)[] = [];
    /** Prints the texts that the test gives, until there are no more. */
    const print = async (_: unknown, { emit, signal }: ToolContext): Promise<string> => {
      for (;;) {
        const said = await new Promise<string | undefined>((resolve) => {
          says.push(resolve);
          signal.addEventListener('abort', () => resolve(undefined));
        });
        if (said === undefined) return 'the result';
        await emit(said);
      }
    };
    const serve = async () => {
      const server = await createFleetServer({ journal: opened() });
      onTestFinished(() => server.close());
      return server;
    };
    const journal = opened();
    const token = async (tenant = 'default') =>
      (await new FleetTokens(journal).create(tenant, ['submit', 'watch'], Date.now())).text;
    const worker = createWorker({
      ...{ journal: opened(), tools: [probeTool('print', print)], root: folder(), policy: null },
    });
    onTestFinished(() => worker.close());
    return {
      ...{ serve, token, server: await serve() },
      async submit(url: string, by: string, id: string): Promise<string> {
        const response = await fetch(`${url}/v1/batches`, {
          method: 'POST',
          headers: { authorization: `Bearer ${by}` },
          body: JSON.stringify({ conversation: `talk ${id}`, calls: [{ id, name: 'print', args: {} }] }),
        });
        return ((await response.json()) as { id: string }).id;
      },
      async say(text: string | undefined): Promise<void> {
        await expect.poll(() => says.length, { interval: 5 }).toBeGreaterThan(0);
        says.shift()?.(text);
      },
    };
  }

  /** A fleet that runs the call `x`, and a reader of its events. */
  async function openListening() {
    const fleet = await openFleet();
    const token = await fleet.token();
    const stream = await listen(fleet.server.url, token);
    await fleet.submit(fleet.server.url, token, 'x');
    return { fleet, token, stream };
  }

  it.skipIf(isMissing)(
    'show what a call prints while another process runs it, and then its result',
    async () => {
      const fleet = await openFleet();
      const [own, foreign] = [await fleet.token('a'), await fleet.token('b')];
      const stream = await listen(fleet.server.url, own);
      const others = await listen(fleet.server.url, foreign);
      await fleet.submit(fleet.server.url, own, 'x');
      await fleet.say('one ');
      await expect.poll(stream.printed).toBe('one ');
      // A later reader gets the earlier output.
      const late = await listen(fleet.server.url, own);
      await expect.poll(late.printed).toBe('one ');
      await fleet.say('two');
      await expect.poll(stream.printed).toBe('one two');
      await expect.poll(late.printed).toBe('one two');
      await fleet.say(' three');
      await fleet.say(undefined);
      await expect.poll(() => stream.events.at(-1)?.data.state).toBe('done');
      const [before, result] = stream.events
        .filter(({ type, data }) => type === 'output' || data.result !== undefined)
        .slice(-2);
      expect(before?.data).toMatchObject({ callId: 'x', stream: 'stdout', from: 7, chunk: ' three' });
      expect(result).toMatchObject({ type: 'call', data: { callId: 'x', result: { output: 'the result' } } });
      expect(stream.events.some(({ type }) => type === 'gap')).toBe(false);
      expect(others.events).toEqual([]);
    },
  );

  it.skipIf(isMissing)('mark a gap if a call prints faster than its output can be stored', async () => {
    const { fleet, stream } = await openListening();
    await fleet.say(`${'a'.repeat(200_000)}${'b'.repeat(64_000)}`);
    await fleet.say(undefined);
    await expect.poll(() => stream.events.at(-1)?.data.state).toBe('done');
    const gap = stream.events.find(({ type }) => type === 'gap');
    expect(gap?.data).toMatchObject({ callId: 'x', of: 'characters' });
    expect((gap?.data.missed ?? 0) + stream.printed().length).toBe(264_000);
    // The newest output is kept.
    expect(/^b{48000,}$/.test(stream.printed())).toBe(true);
  });

  it.skipIf(isMissing)('go on after the last event that a reader has seen', async () => {
    const { fleet, token, stream } = await openListening();
    await fleet.say('one ');
    await expect.poll(stream.printed).toBe('one ');
    const { id } = stream.events.at(-1) as Received;
    await stream.stop();
    await fleet.say('two');
    await pause(300);
    await fleet.say(undefined);
    await pause(300);
    const resumed = await listen(fleet.server.url, token, id);
    await expect.poll(() => resumed.events.at(-1)?.data).toMatchObject({ state: 'done' });
    expect(resumed.printed()).toBe('two');
    const results = resumed.events.filter(({ data }) => data.result !== undefined);
    expect(results).toHaveLength(1);
    expect(resumed.events.some(({ type }) => type === 'gap')).toBe(false);
  });

  it.skipIf(isMissing)(
    'continue at another server from the journal, with a gap for lost output',
    async () => {
      const { fleet, token, stream } = await openListening();
      await fleet.say('one ');
      await expect.poll(stream.printed).toBe('one ');
      const { id } = stream.events.at(-1) as Received;
      await stream.stop();
      await fleet.server.close();
      await fleet.say(undefined);
      const next = await fleet.serve();
      await pause(300);
      const resumed = await listen(next.url, token, id);
      await expect.poll(() => resumed.events.length).toBeGreaterThan(0);
      await expect
        .poll(() => resumed.events.find(({ data }) => data.result !== undefined)?.data.result?.output)
        .toBe('the result');
      await expect.poll(() => resumed.events.filter(({ type }) => type === 'gap')).toHaveLength(1);
      const wrong = await listen(next.url, token, 'not an id');
      await expect
        .poll(() => wrong.events.find(({ type }) => type === 'gap')?.data)
        .toMatchObject({ missed: null });
    },
  );
});
