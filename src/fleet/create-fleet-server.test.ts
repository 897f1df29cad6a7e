import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from '../executor/create-executor.js';
import { folder } from '../executor/fixtures/plan-fixture.js';
import { pause, probeTool } from '../executor/fixtures/probe-tool.js';
import { openJournal } from '../journal/open-journal.js';
import { createFleetServer, type FleetServer, type FleetServerOptions } from './create-fleet-server.js';
import { createWorker, type WorkerOptions } from './create-worker.js';
import { FleetTokens, TOKEN_SCOPES, type TokenScope } from './fleet-tokens.js';
import type { ShownBatch } from './tenant-desk.js';

interface Fleet {
  readonly journal: string;
  readonly ran: string[];
  readonly server: FleetServer;
  readonly token: (tenant?: string, scopes?: readonly TokenScope[]) => Promise<string>;
  readonly ask: (token: string, path: string, body?: unknown) => Promise<Answer>;
  readonly work: (options?: Partial<WorkerOptions>) => void;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Each test reads the fields of its answer. */
  readonly body: Required<ShownBatch> & {
    readonly batches: readonly { readonly requests: readonly { readonly argsHash: string }[] }[];
    readonly error: { readonly code: string; readonly message: string };
  };
}

async function ask(url: string, token: string, path: string, body?: unknown): Promise<Answer> {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { method: 'POST', body: sent }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Answer['body'],
  };
}

async function openFleet(options: Partial<FleetServerOptions> = {}): Promise<Fleet> {
  const journal = join(folder(), 'journal.db');
  const ran: string[] = [];
  const server = await createFleetServer({ journal, ...options });
  onTestFinished(() => server.close());
  return {
    ...{ journal, ran, server },
    async token(tenant = 'default', scopes = TOKEN_SCOPES) {
      const own = openJournal(journal);
      const { text } = await new FleetTokens(own).create(tenant, scopes, Date.now());
      await own.close();
      return text;
    },
    ask: (token, path, body) => ask(server.url, token, path, body),
    work(more = {}) {
      const worker = createWorker({ journal, tools: toolsOf(ran), root: folder(), ...more });
      onTestFinished(() => worker.close());
    },
  };
}

function toolsOf(ran: string[]) {
  const run = async ({ name, ms = 0 }: JsonObject, { signal }: ToolContext): Promise<string> => {
    ran.push(`${String(name)} begins`);
    for (let waited = 0; waited < Number(ms) && !signal.aborted; waited += 5) await pause(5);
    ran.push(`${String(name)} ${signal.aborted ? 'stops' : 'ends'}`);
    return `did ${String(name)}`;
  };
  return [
    probeTool('look', run, { effects: () => [{ kind: 'read', path: 'f' }] }),
    probeTool('change', run, { effects: () => [{ kind: 'write', path: 'f' }] }),
  ];
}

const look = (id: string, args: object = { name: id }) => ({ id, name: 'look', args });
const change = (id: string, args: object = { name: id }) => ({ id, name: 'change', args });

describe('a fleet server', () => {
  it('hands calls to a worker and answers with their results', async () => {
    const fleet = await openFleet();
    fleet.work({ policy: null });
    const token = await fleet.token();
    const answer = await fleet.ask(token, '/v1/batches?wait=20', {
      calls: [look('a'), change('b')],
      conversation: 'c',
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      conversation: 'c',
      state: 'done',
      calls: [
        { callId: 'a', toolName: 'look', state: 'done' },
        { callId: 'b', toolName: 'change', state: 'done' },
      ],
      results: [
        { callId: 'a', success: true, output: 'did a' },
        { callId: 'b', success: true, output: 'did b' },
      ],
    });
    const again = await fleet.ask(token, `/v1/batches/${answer.body.id}`);
    expect(again.body).toEqual(answer.body);
  });

  it('answers a repeated call from its record, and refuses the same id with other arguments', async () => {
    const fleet = await openFleet();
    fleet.work({ policy: null });
    const token = await fleet.token();
    const batch = { calls: [look('a')], conversation: 'c' };
    const [one, other] = await Promise.all([
      fleet.ask(token, '/v1/batches?wait=20', batch),
      fleet.ask(token, '/v1/batches?wait=20', batch),
    ]);
    expect([one.body.results[0]?.output, other.body.results[0]?.output]).toEqual(['did a', 'did a']);
    const changed = { calls: [look('a', { name: 'other' }), look('d'), look('d')], conversation: 'c' };
    const { results } = (await fleet.ask(token, '/v1/batches?wait=20', changed)).body;
    expect(results.map((result) => result.error?.code)).toEqual([
      'duplicate_tool_call_id',
      undefined,
      'duplicate_tool_call_id',
    ]);
    expect(fleet.ran.filter((line) => line.endsWith('begins'))).toEqual(['a begins', 'd begins']);
  });

  it('lets a person approve, change and deny calls, and runs none before the decision', async () => {
    const fleet = await openFleet();
    fleet.work();
    const token = await fleet.token('default', ['submit']);
    const person = await fleet.token('default', ['approve']);
    const { id } = (
      await fleet.ask(token, '/v1/batches', { calls: [change('a'), change('b')], conversation: 'c' })
    ).body;
    await expect.poll(async () => (await fleet.ask(person, '/v1/waiting')).body.batches).toHaveLength(1);
    const [batch] = (await fleet.ask(person, '/v1/waiting')).body.batches;
    expect(batch).toMatchObject({
      ...{ id, conversation: 'c' },
      requests: [
        {
          callId: 'a',
          toolName: 'change',
          args: { name: 'a' },
          argsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
        { callId: 'b' },
      ],
    });
    expect((await fleet.ask(token, `/v1/batches/${id}`)).body.state).toBe('waiting');
    const decide = (body: object) => fleet.ask(person, `/v1/batches/${id}/decision?wait=20`, body);
    const other = await decide({ kind: 'approve_all', hashes: { a: 'f'.repeat(64) } });
    expect([other.status, other.body.error.message]).toEqual([
      400,
      `Cannot decide about batch "${id}": the call "a" has other arguments than those that were shown.`,
    ]);
    expect(fleet.ran).toEqual([]);
    const decided = await decide({
      ...{
        kind: 'approve_selected',
        ids: ['a'],
        edits: { a: { name: 'edited' } },
        reasons: { b: 'not today' },
      },
      ...{ by: 'ana', hashes: { a: batch?.requests[0]?.argsHash } },
    });
    expect(decided.body.results).toMatchObject([
      { callId: 'a', success: true, output: 'did edited' },
      { callId: 'b', error: { code: 'user_denied', details: { executed: 'no' } } },
    ]);
    expect(fleet.ran).toEqual(['edited begins', 'edited ends']);
    expect((await decide({ kind: 'approve_all' })).body.error.code).toBe('already_decided');
  });

  it('lets `executor.approve` of another process decide, while a worker runs the calls', async () => {
    const fleet = await openFleet();
    fleet.work();
    const token = await fleet.token();
    const { id } = (await fleet.ask(token, '/v1/batches', { calls: [change('a')], conversation: 'c' })).body;
    await expect.poll(async () => (await fleet.ask(token, '/v1/waiting')).body.batches).toHaveLength(1);
    const own: string[] = [];
    await using host = createExecutor({
      journal: fleet.journal,
      tools: toolsOf(own),
      approver: () => ({ kind: 'approve_all' }),
    });
    const [result] = await (await host.approve(id)).results;
    expect(result?.output).toBe('did a');
    expect([fleet.ran, own]).toEqual([['a begins', 'a ends'], []]);
  });

  it('counts one of two decisions that arrive at once', async () => {
    const fleet = await openFleet();
    fleet.work();
    const token = await fleet.token();
    const { id } = (await fleet.ask(token, '/v1/batches', { calls: [change('a')], conversation: 'c' })).body;
    await expect.poll(async () => (await fleet.ask(token, '/v1/waiting')).body.batches).toHaveLength(1);
    const kinds = ['approve_all', 'deny_all', 'approve_all', 'deny_all'];
    const answers = await Promise.all(
      kinds.map((kind) => fleet.ask(token, `/v1/batches/${id}/decision?wait=20`, { kind })),
    );
    const counted = answers.findIndex(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
    const [result] = answers[counted]?.body.results ?? [];
    expect(result?.success).toBe(kinds[counted] === 'approve_all');
  });

  it('hides the calls of a tenant from every other tenant', async () => {
    const fleet = await openFleet();
    fleet.work();
    const [a, b, own] = [await fleet.token('a'), await fleet.token('b'), await fleet.token()];
    const batch = { calls: [change('x')], conversation: 'c' };
    const { id } = (await fleet.ask(a, '/v1/batches', batch)).body;
    await expect.poll(async () => (await fleet.ask(a, '/v1/waiting')).body.batches).toHaveLength(1);
    const missing = await fleet.ask(b, '/v1/batches/no-such-batch');
    expect(missing).toMatchObject({ status: 404, body: { error: { code: 'unknown_batch' } } });
    for (const token of [b, own]) {
      expect((await fleet.ask(token, `/v1/batches/${id}`)).body).toEqual(missing.body);
      expect((await fleet.ask(token, `/v1/batches/${id}/decision`, { kind: 'approve_all' })).body).toEqual(
        missing.body,
      );
      expect((await fleet.ask(token, `/v1/batches/${id}/cancel`, {})).body).toEqual(missing.body);
      expect((await fleet.ask(token, '/v1/waiting')).body.batches).toEqual([]);
    }
    const theirs = await fleet.ask(b, '/v1/batches', batch);
    expect(theirs.body).toMatchObject({ conversation: 'c', state: 'queued' });
    const reserved = await fleet.ask(own, '/v1/batches', { ...batch, conversation: 'tenant:a:c' });
    expect(reserved.body.error.message).toContain('its name is reserved');
    expect(fleet.ran).toEqual([]);
  });

  it('cancels queued calls at once, and reaches a running tool within a moment', async () => {
    const fleet = await openFleet();
    const token = await fleet.token();
    const queued = (await fleet.ask(token, '/v1/batches', { calls: [look('q')], conversation: 'q' })).body;
    const ended = await fleet.ask(token, `/v1/batches/${queued.id}/cancel`, { reason: 'not wanted' });
    expect(ended.body.results[0]?.error).toMatchObject({ code: 'cancelled', details: { executed: 'no' } });
    fleet.work({ policy: null });
    const { id } = (await fleet.ask(token, '/v1/batches', { calls: [look('r', { name: 'r', ms: 10_000 })] }))
      .body;
    await expect.poll(() => fleet.ran, { interval: 5 }).toEqual(['r begins']);
    const begun = performance.now();
    await fleet.ask(token, `/v1/batches/${id}/cancel`, {});
    await expect.poll(() => fleet.ran, { interval: 5 }).toEqual(['r begins', 'r stops']);
    expect(performance.now() - begun).toBeLessThan(8_000);
    const { results } = (await fleet.ask(token, `/v1/batches/${id}?wait=20`)).body;
    expect(results[0]?.error?.code).toBe('cancelled');
  });

  it('sends a client the changes of its tenant as events', async () => {
    const fleet = await openFleet();
    const [a, b] = [await fleet.token('a'), await fleet.token('b')];
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const stream = await fetch(`${fleet.server.url}/v1/events`, {
      headers: { authorization: `Bearer ${a}` },
      signal: stop.signal,
    });
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    let text = '';
    const reading = (async () => {
      for await (const part of stream.body ?? []) text += Buffer.from(part).toString();
    })().catch(() => {});
    fleet.work({ policy: null });
    await fleet.ask(b, '/v1/batches?wait=20', { calls: [look('hidden')], conversation: 'c' });
    const { id } = (await fleet.ask(a, '/v1/batches?wait=20', { calls: [look('seen')], conversation: 'c' }))
      .body;
    await expect
      .poll(() => text)
      .toContain(`event: batch\ndata: {"id":"${id}","state":"done","conversation":"c"}`);
    const calls = text.split('\n\n').filter((event) => event.startsWith('event: call'));
    const done = JSON.parse(/^data: (.*)$/m.exec(calls.at(-1) ?? '')?.[1] ?? '');
    expect(done).toMatchObject({
      batchId: id,
      callId: 'seen',
      state: 'done',
      result: { output: 'did seen' },
    });
    expect(text).not.toContain('hidden');
    stop.abort();
    await reading;
  });

  it('answers a call that no worker could start before its deadline', async () => {
    const fleet = await openFleet({ startDeadlineMs: 100 });
    fleet.work({ policy: null });
    const batch = { calls: [{ id: 'a', name: 'no_such_tool' }] };
    const { results } = (await fleet.ask(await fleet.token(), '/v1/batches?wait=20', batch)).body;
    expect(results[0]?.error).toMatchObject({ code: 'expired', details: { executed: 'no' } });
  });

  it('continues after a restart: a wait ends, and the batch has its result', async () => {
    const fleet = await openFleet();
    const token = await fleet.token();
    const waiting = fleet.ask(token, '/v1/batches?wait=60', { calls: [look('a')], conversation: 'c' });
    const journal = openJournal(fleet.journal);
    await expect.poll(async () => (await journal.batches()).length).toBe(1);
    await journal.close();
    await fleet.server.close();
    const {
      status,
      body: { id },
    } = await waiting;
    expect(status).toBe(202);
    await using next = await createFleetServer({ journal: fleet.journal });
    fleet.work({ policy: null });
    expect((await ask(next.url, token, `/v1/batches/${id}?wait=20`)).body.results[0]?.output).toBe('did a');
  });

  it('refuses a batch over the quota of its tenant, and says when to try again', async () => {
    const fleet = await openFleet({ quotas: { open: 1 } });
    const token = await fleet.token('a');
    expect((await fleet.ask(token, '/v1/batches', { calls: [look('a')] })).status).toBe(202);
    const over = await fleet.ask(token, '/v1/batches', { calls: [look('b')] });
    expect([over.status, over.body.error.code, over.headers.get('retry-after')]).toEqual([
      429,
      'quota_exceeded',
      '1',
    ]);
    expect((await fleet.ask(await fleet.token('b'), '/v1/batches', { calls: [look('a')] })).status).toBe(202);
  });
});

describe('a fleet server admits', () => {
  it('a token that has the scope, until it is revoked', async () => {
    const fleet = await openFleet();
    const token = await fleet.token('default', ['watch']);
    expect((await fleet.ask(token, '/v1/waiting')).status).toBe(200);
    expect((await fleet.ask(token, '/v1/batches', { calls: [look('a')] })).body.error).toEqual({
      code: 'forbidden',
      message: 'The token lacks the scope submit.',
    });
    for (const wrong of ['', 'x', `${token}x`, token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))]) {
      const answer = await fleet.ask(wrong, '/v1/waiting');
      expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthorized']);
    }
    const journal = openJournal(fleet.journal);
    const tokens = new FleetTokens(journal);
    const [created] = await tokens.list();
    expect(await tokens.revoke(created?.id ?? '', Date.now())).toBe(true);
    await journal.close();
    expect((await fleet.ask(token, '/v1/waiting')).status).toBe(401);
  });

  it('requests to names of this machine, and none from a page of another site', async () => {
    const fleet = await openFleet({ names: ['fleet.example'] });
    const status = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        httpRequest(`${fleet.server.url}/health`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        })
          .on('error', reject)
          .end();
      });
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'https://evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ host: 'fleet.example', origin: 'https://fleet.example' })).toBe(200);
  });

  it('bug: a client that sends a whole body that is too large got a broken connection and no answer', async () => {
    const fleet = await openFleet({ maxBodyBytes: 2_000 });
    const bytes = 8_000_000;
    const socket = connect(Number(new URL(fleet.server.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const token = await fleet.token();
    const head = `POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${bytes}\r\n\r\n`;
    // Many clients read the answer only once everything is sent.
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      const half = Buffer.alloc(bytes / 2);
      socket.write(Buffer.concat([Buffer.from(head), half]));
      setTimeout(() => socket.write(half, (error) => (error ? reject(error) : resolve())), 1_000);
    });
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 .*"code":"too_large"/s);
  });

  it('no wrong request: each gets one clear error', async () => {
    const fleet = await openFleet({ maxBodyBytes: 2_000 });
    const token = await fleet.token();
    const wrong = async (path: string, body?: unknown) => {
      const answer = await fleet.ask(token, path, body);
      return [answer.status, answer.body.error.code, answer.body.error.message];
    };
    expect(await wrong('/v1/batches', '{"calls":')).toEqual([400, 'bad_args', 'The body is not JSON.']);
    expect(await wrong('/v1/batches', 'x'.repeat(2_001))).toEqual([
      ...[413, 'too_large', 'A request has at most 2000 bytes.'],
    ]);
    expect(await wrong('/v1/batches', {})).toEqual([
      400,
      'bad_args',
      'calls must be a list of at least one call.',
    ]);
    expect((await wrong('/v1/batches', { calls: [look('a')], option: {} }))[2]).toBe(
      'The body has the unknown field "option". Known: calls, conversation, options.',
    );
    expect((await wrong('/v1/batches', { calls: [{ id: 'a', name: 'look', args: [] }] }))[2]).toBe(
      'calls[0].args must be an object.',
    );
    expect((await wrong('/v1/batches', { calls: [look('a')], options: { priority: -1 } }))[2]).toBe(
      'options.priority must be a whole number from 0.',
    );
    expect((await wrong('/v1/batches?wait=soon', { calls: [look('a')] }))[2]).toContain(
      'wait must be a number',
    );
    expect(await wrong('/v1/nothing')).toEqual([404, 'not_found', expect.any(String)]);
    expect((await wrong('/v1/batches'))[0]).toBe(405);
    const nested = `{"calls":[{"id":"a","name":"look","args":{"x":${'['.repeat(900)}${']'.repeat(900)}}}]}`;
    expect([202, 400]).toContain((await fleet.ask(token, '/v1/batches', nested)).status);
  });

  it('by a client that sends its request in time', async () => {
    const fleet = await openFleet({ receiveMs: 200 });
    const { port } = new URL(fleet.server.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('POST /v1/batches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{');
    const heard = await new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (part) => {
        text += part.toString();
      });
      socket.on('close', () => resolve(text));
    });
    expect(heard).toMatch(/^HTTP\/1\.1 40[18]/);
  });

  it('for health and metrics without a token on a loopback address', async () => {
    const fleet = await openFleet();
    fleet.work({ policy: null });
    const token = await fleet.token();
    await expect
      .poll(async () =>
        (await (await fetch(`${fleet.server.url}/metrics`)).text()).includes('toolexec_fleet_workers 1\n'),
      )
      .toBe(true);
    await fleet.ask(token, '/v1/batches?wait=20', { calls: [look('a')], conversation: 'c' });
    const metrics = async () => (await fetch(`${fleet.server.url}/metrics`)).text();
    await expect.poll(metrics).toContain('toolexec_fleet_claims_total 1\n');
    expect(await metrics()).toContain('toolexec_fleet_results_total{outcome="success"} 1\n');
    expect(await (await fetch(`${fleet.server.url}/health`)).json()).toEqual({ ok: true });
  });
});

describe('createFleetServer', () => {
  it('refuses options and journals that it cannot use', async () => {
    await expect(createFleetServer({} as never)).rejects.toThrow('options.journal is missing');
    const journal = join(folder(), 'journal.db');
    await expect(createFleetServer({ journal, listen: 'a b' })).rejects.toThrow(
      'options.listen must be [HOST:]PORT',
    );
    await expect(createFleetServer({ journal, port: 1 } as never)).rejects.toThrow(
      'Unknown option options.port',
    );
    await using server = await createFleetServer({ journal });
    const taken = new URL(server.url).port;
    await expect(createFleetServer({ journal, listen: taken })).rejects.toThrow('EADDRINUSE');
  });
});
