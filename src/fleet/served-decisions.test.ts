import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import type { WaitingBatch } from '../contract/open-batch.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { createClock } from '../platform/clock/clock.js';
import { createFleetServer } from './create-fleet-server.js';
import { createWorker } from './create-worker.js';
import { SHARED_KINDS, sharedJournals } from './fixtures/shared-journals.js';
import { FleetTokens } from './fleet-tokens.js';
import type { ShownBatch } from './tenant-desk.js';

/** Each test reads the fields of its answer. */
type Served = Required<ShownBatch> & { readonly batches: readonly WaitingBatch[] };

const journals = sharedJournals();

describe.each(SHARED_KINDS)('decisions over HTTP about calls in %s', (kind) => {
  const isMissing = journals.isMissing(kind);

  async function openFleet() {
    const open = journals.create(kind);
    const root = folder();
    const ran: string[] = [];
    const tool = probeTool(
      'change',
      ({ name }) => {
        ran.push(String(name));
        return `did ${String(name)}`;
      },
      { effects: () => [{ kind: 'write', path: 'f' }] },
    );
    const server = await createFleetServer({ journal: open() });
    onTestFinished(() => server.close());
    const tokens = new FleetTokens(open());
    const asking = async (tenant: string) => {
      const { text } = await tokens.create(tenant, ['submit', 'approve', 'watch'], Date.now());
      return async (path: string, body?: object) => {
        const response = await fetch(`${server.url}/v1/${path}`, {
          headers: { authorization: `Bearer ${text}` },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
        return { status: response.status, body: (await response.json()) as Served };
      };
    };
    return {
      ...{ root, ran, open, asking, tool },
      work() {
        const worker = createWorker({ journal: open(), tools: [tool], root });
        onTestFinished(() => worker.close());
      },
    };
  }

  const batch = (id: string): JsonObject => ({
    calls: [{ id, name: 'change', args: { name: id } }],
    conversation: 'c',
  });

  it.skipIf(isMissing)(
    'are bound to the content of files: if it changes meanwhile, the person is asked again',
    async () => {
      const fleet = await openFleet();
      const file = join(fleet.root, 'f');
      writeFileSync(file, 'seen');
      fleet.work();
      const ask = await fleet.asking('a');
      const { id } = (await ask('batches', batch('x'))).body;
      const waiting = async () => (await ask('waiting')).body.batches;
      await expect.poll(waiting).toHaveLength(1);
      const [first] = await waiting();
      expect(first?.requests[0]?.shown).toMatchObject([{ path: file }]);
      const seen = first?.requests[0]?.shown?.[0]?.hash;
      writeFileSync(file, 'changed meanwhile');
      await ask(`batches/${id}/decision`, { kind: 'approve_all' });
      await expect
        .poll(async () => (await waiting())[0]?.requests[0]?.shown?.[0]?.hash ?? seen)
        .not.toBe(seen);
      expect(fleet.ran).toEqual([]);
      const decided = await ask(`batches/${id}/decision?wait=20`, { kind: 'approve_all' });
      expect(decided.body.results).toMatchObject([{ success: true, output: 'did x' }]);
      expect(fleet.ran).toEqual(['x']);
    },
  );

  it.skipIf(isMissing)('count once, even if others decide at the same time', async () => {
    const fleet = await openFleet();
    fleet.work();
    const ask = await fleet.asking('a');
    const { id } = (await ask('batches', batch('x'))).body;
    await expect.poll(async () => (await ask('waiting')).body.batches).toHaveLength(1);
    const kinds = ['approve_all', 'deny_all', 'approve_all', 'deny_all'];
    const answers = await Promise.all(kinds.map((one) => ask(`batches/${id}/decision`, { kind: one })));
    const counted = answers.flatMap(({ status }, index) => (status < 300 ? [kinds[index]] : []));
    expect(counted).toHaveLength(1);
    const { results } = (await ask(`batches/${id}?wait=20`)).body;
    expect(results[0]?.success).toBe(counted[0] === 'approve_all');
    expect(fleet.ran).toHaveLength(counted[0] === 'approve_all' ? 1 : 0);
  });

  it.skipIf(isMissing)(
    'need a token of the tenant: other clients can see, decide and cancel nothing',
    async () => {
      const fleet = await openFleet();
      fleet.work();
      const [own, other] = [await fleet.asking('a'), await fleet.asking('b')];
      const { id } = (await own('batches', batch('x'))).body;
      await expect.poll(async () => (await own('waiting')).body.batches).toHaveLength(1);
      const missing = await other('batches/no-such-batch');
      expect(missing.status).toBe(404);
      for (const [path, body] of [
        [`batches/${id}`, undefined],
        [`batches/${id}/decision`, { kind: 'approve_all' }],
        [`batches/${id}/cancel`, {}],
      ] as const)
        expect(await other(path, body)).toEqual(missing);
      expect((await other('waiting')).body.batches).toEqual([]);
      // The same names are different calls for another tenant.
      expect((await other('batches', batch('x'))).body.id).not.toBe(id);
      expect(fleet.ran).toEqual([]);
    },
  );

  it.skipIf(isMissing)('reach a call whose host died before it asked', async () => {
    const fleet = await openFleet();
    const journal = fleet.open();
    // The state that a host leaves if it dies between the acceptance and the question.
    await journal.accept({
      ...{ id: 'left', conversation: 'c', attach: true, at: Date.now(), placement: {} },
      calls: [
        {
          ...{ callId: 'x', toolName: 'change', args: { name: 'x' }, effects: [{ kind: 'unknown' }] },
          ...{ disposition: 'requires_confirmation', reason: 'the policy asks' },
        },
      ],
    });
    const clock = { ...createClock(), now: () => Date.now() + 180_000 };
    const worker = createWorker({ journal: fleet.open(), tools: [fleet.tool], root: fleet.root, clock });
    onTestFinished(() => worker.close());
    const ask = await fleet.asking(journal.tenant ?? 'default');
    await expect
      .poll(async () => (await ask('waiting')).body.batches)
      .toMatchObject([{ id: 'left', requests: [{ callId: 'x' }] }]);
    await ask('batches/left/decision', { kind: 'approve_all' });
    await expect.poll(() => fleet.ran).toEqual(['x']);
  });
});
