import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { builtinTools } from '../executor/builtin-tools.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { probeTool } from '../executor/fixtures/probe-tool.js';
import { createFleetServer } from './create-fleet-server.js';
import { createWorker } from './create-worker.js';
import { SHARED_KINDS, sharedJournals } from './fixtures/shared-journals.js';
import { FleetTokens } from './fleet-tokens.js';

const journals = sharedJournals();
/** The sizes of two blocks in bytes: answers contain the first, and only refer to the second. */
const [SHORT, LONG] = [65_536, 3_000_000];

describe.each(SHARED_KINDS)('long content of a result in %s', (kind) => {
  it.skipIf(journals.isMissing(kind))(
    'is named in answers and fetched separately, with a token of its tenant',
    async () => {
      const open = journals.create(kind);
      const server = await createFleetServer({ journal: open() });
      onTestFinished(() => server.close());
      const long = new Uint8Array(LONG).map((_, index) => index % 251);
      const draw = probeTool('draw', () => ({
        content: [new Uint8Array(SHORT), long].map((data) => ({
          type: 'image',
          mediaType: 'image/png',
          data,
        })),
      }));
      const worker = createWorker({ journal: open(), tools: [draw], root: folder(), policy: null });
      onTestFinished(() => worker.close());
      const tokens = new FleetTokens(open());
      const [own, other] = await Promise.all(
        ['a', 'b'].map(async (tenant) => (await tokens.create(tenant, ['submit'], Date.now())).text),
      );
      const ask = (token: string | undefined, path: string, body?: object): Promise<Response> =>
        fetch(`${server.url}/v1/${path}`, {
          ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
      const answer = await ask(own, 'batches?wait=20', { calls: [{ id: 'x', name: 'draw', args: {} }] });
      const { results } = (await answer.json()) as {
        results: { content: Record<'data' | 'blob' | 'sha256', string>[] }[];
      };
      const [inline, named] = results[0]?.content ?? [];
      if (inline === undefined || named === undefined) throw new Error('two images were expected');
      expect(Buffer.from(inline.data, 'base64')).toHaveLength(SHORT);
      expect(named).toEqual({
        ...{ type: 'image', mediaType: 'image/png', bytes: LONG },
        ...{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/), blob: expect.any(String) },
      });
      const blob = await ask(own, `blobs/${encodeURIComponent(named.blob)}`);
      expect(blob.headers.get('content-type')).toBe('application/octet-stream');
      expect(Buffer.from(await blob.arrayBuffer()).equals(Buffer.from(long))).toBe(true);
      const foreign = await ask(other, `blobs/${encodeURIComponent(named.blob)}`);
      const unknown = await ask(other, `blobs/no-such.0.${named.sha256}`);
      expect([foreign.status, await foreign.json()]).toEqual([404, await unknown.json()]);
      const wrong = named.blob.replace(/.{64}$/, 'f'.repeat(64));
      expect((await ask(own, `blobs/${wrong}`)).status).toBe(404);
      expect((await ask(own, 'blobs/..%2f..%2fetc')).status).toBe(404);
      expect((await ask(undefined, `blobs/${named.blob}`)).status).toBe(401);
    },
  );
});

describe.each(SHARED_KINDS)('bug: no client could fetch the whole output of a cut result, in %s', (kind) => {
  it.skipIf(journals.isMissing(kind))(
    'can be fetched by its outputRef with a token of its tenant, and with read_file on its worker',
    async () => {
      const open = journals.create(kind);
      const server = await createFleetServer({ journal: open() });
      onTestFinished(() => server.close());
      const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`).join('');
      const worker = createWorker({
        ...{ journal: open(), tools: [...builtinTools(), probeTool('talk', () => text)] },
        ...{ root: folder(), policy: null, output: { maxBytes: 2_000 } },
      });
      onTestFinished(() => worker.close());
      const tokens = new FleetTokens(open());
      const [own, other] = await Promise.all(
        ['a', 'b'].map(async (tenant) => (await tokens.create(tenant, ['submit'], Date.now())).text),
      );
      const ask = (token: string | undefined, path: string, call?: object): Promise<Response> =>
        fetch(`${server.url}/v1/${path}`, {
          headers: { authorization: `Bearer ${token}` },
          ...(call === undefined ? {} : { method: 'POST', body: JSON.stringify({ calls: [call] }) }),
        });
      const resultOf = async (call: object): Promise<ToolResult> => {
        const answer = await ask(own, 'batches?wait=20', call);
        return ((await answer.json()) as { results: [ToolResult] }).results[0];
      };
      const cut = await resultOf({ id: 'x', name: 'talk', args: {} });
      expect(cut).toMatchObject({ truncated: true, outputRef: expect.any(String) });
      const path = `blobs/${encodeURIComponent(cut.outputRef ?? '')}`;
      expect(await (await ask(own, path)).text()).toBe(text);
      expect((await ask(other, path)).status).toBe(404);
      expect((await ask(own, path.replace(/[\da-f]{32}/, 'f'.repeat(32)))).status).toBe(404);
      const reread = await resultOf({ id: 'y', name: 'read_file', args: { path: cut.outputRef, limit: 20 } });
      expect(reread.output).toContain('line 1');
    },
  );
});
