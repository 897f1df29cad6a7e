import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type PostgresCluster,
  startPostgres,
  whyNoPostgres,
} from '../../src/journal/postgres/fixtures/postgres-cluster.js';
import { ended, useToolexec } from './toolexec.js';

const toolexec = useToolexec();
const missing = whyNoPostgres();

const respond = (id: string, name: string, args: object): string => JSON.stringify([{ id, name, args }]);

describe.skipIf(missing !== undefined)(
  `commands against a fleet${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    let cluster: PostgresCluster;

    beforeAll(async () => {
      cluster = await startPostgres();
      cluster.sql('CREATE DATABASE fleet');
    });

    afterAll(() => cluster?.end());

    it('run, decide, show, undo, serve and work over the database of fleet.url', async () => {
      const env = { TOOLEXEC_FLEET_URL: cluster.url('fleet') };
      const shown = (text: string) => expect(text).not.toContain('journal.db');
      const run = async (words: readonly string[], stdin = '') => {
        const ran = await toolexec.run(words, { env, stdin });
        return { ...ran, said: `${ran.code}\n${ran.stdout}\n${ran.stderr}` };
      };
      const write = respond('w1', 'write_file', { path: 'a.txt', content: 'one\n' });
      const put = await run(['run', '-', '--defer', '--conversation', 'c'], write);
      expect(put.code, put.said).toBe(4);
      const waiting = await run(['waiting', '--json']);
      expect(JSON.parse(waiting.stdout), waiting.said).toMatchObject([{ conversation: 'c' }]);
      const approved = await run(['approve', 'c', '--yes']);
      expect(approved.code, approved.said).toBe(0);
      expect(readFileSync(join(toolexec.root, 'a.txt'), 'utf8')).toBe('one\n');
      const list = await run(['journal', 'list', '--json']);
      expect(JSON.parse(list.stdout), list.said).toMatchObject([{ conversation: 'c', outcomes: { ok: 1 } }]);
      const show = await run(['journal', 'show', 'w1', '--json']);
      expect(JSON.parse(show.stdout).batches[0].calls[0], show.said).toMatchObject({
        callId: 'w1',
        state: 'done',
      });
      const undone = await run(['undo', '--conversation', 'c', '--json']);
      expect(undone.code, undone.said).toBe(0);
      const recovered = await run(['journal', 'recover', '--json']);
      expect(JSON.parse(recovered.stdout), recovered.said).toEqual([]);
      const exported = await run(['journal', 'export']);
      const lines = exported.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines[0], exported.said).toEqual({ kind: 'conversation', id: 'c' });
      expect(lines.filter(({ kind }) => kind === 'call').map(({ callId }) => callId)).toContain('w1');
      expect(lines.map(({ kind }) => kind)).toContain('decision');
      expect((await run(['journal', 'export', '--conversation', 'c'])).stdout).toContain('"w1"');
      const reported = await run(['journal', 'report', '--json']);
      expect(reported.code, reported.said).toBe(0);
      expect(JSON.parse(reported.stdout)).toMatchObject({ batches: 2, outcomes: { ok: 2 } });
      const pruned = await run(['journal', 'prune', '--older-than', '0s', '--json']);
      expect(JSON.parse(pruned.stdout), pruned.said).toMatchObject({ batches: 1, shrunk: false });
      expect((await run(['journal', 'prune', '--max-size', '0'])).stdout).toContain('nothing to remove');
      expect(existsSync(join(toolexec.root, 'postgres:')), 'a file instead of the database').toBe(false);
      const verified = await run(['journal', 'verify']);
      expect(verified.code, verified.said).toBe(2);
      expect(verified.stderr).toContain(
        'This command reads journals in files, and fleet.url names postgres://',
      );
      expect(verified.stderr).toContain('a database is checked by its server');
      shown(verified.stderr);

      const token = (await run(['serve', 'token', 'create', '--tenant', 'acme'])).stdout.trim();
      const server = toolexec.start(['serve', '--listen', '0'], { env });
      const worker = toolexec.start(['worker', '--root', toolexec.root], { env });
      const watch = toolexec.start(['watch', '--json'], { env });
      const children = [server, worker, watch];
      onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')));
      for (const child of children) child.stdin.end();
      const events: string[] = [];
      watch.stdout.on('data', (part) => events.push(String(part)));
      const url = await new Promise<string>((resolve) => {
        let text = '';
        server.stderr.on('data', (part) => {
          text += String(part);
          const found = /http:\S+/.exec(text)?.[0];
          if (found !== undefined) resolve(found);
        });
      });
      let sent = 0;
      const submit = async (): Promise<unknown> => {
        const calls = [{ id: `r${++sent}`, name: 'list_directory', args: { path: '.' } }];
        const response = await fetch(`${url}/v1/batches?wait=30`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}` },
          body: JSON.stringify({ calls, conversation: 'd' }),
        });
        return response.json();
      };
      expect(await submit()).toMatchObject({
        state: 'done',
        results: [{ callId: 'r1', success: true }],
      });
      // It shows what happens from its start on, which may come after the first call.
      await expect
        .poll(async () => {
          await submit();
          return events.join('');
        })
        .toMatch(/"callId":"r\d+"/);
      for (const child of children) child.kill('SIGTERM');
      const ends = await Promise.all(children.map((child) => ended(child)));
      expect(ends.slice(0, 2).map(({ code }) => code)).toEqual([0, 0]);
    });

    it('call, undo a call, serve MCP and chat over the database of fleet.url', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const env = { TOOLEXEC_FLEET_URL: cluster.url('fleet'), OPENAI_API_KEY: 'none' };
      const file = join(toolexec.root, 'b.txt');
      const args = JSON.stringify({ path: 'b.txt', content: 'two\n' });
      const called = await toolexec.run(['call', 'write_file', args, '--yes', '--json'], { env });
      const [{ tool_call_id: id }] = JSON.parse(called.stdout);
      expect(readFileSync(file, 'utf8')).toBe('two\n');
      const undone = await toolexec.run(['undo', id], { env });
      expect([undone.code, existsSync(file)], undone.stderr).toEqual([0, false]);

      const client = new Client({ name: 'test', version: '1' });
      const transport = new StdioClientTransport({
        ...{ command: process.execPath, args: [toolexec.main, 'mcp', '--read-only'], cwd: toolexec.root },
        ...{ env: toolexec.environment(env), stderr: 'ignore' },
      });
      await client.connect(transport);
      const listed = await client.callTool({ name: 'list_directory', arguments: { path: '.' } });
      expect(listed.isError ?? false).toBe(false);
      await client.close();

      const model = await answering([
        { tool_calls: [toolCall('read_file', { path: 'no-such.txt' })] },
        { content: 'It is gone.' },
      ]);
      const chat = ['chat', 'Where is it?', '--print', '--model', 'openai/test', '--base-url', model];
      const said = await toolexec.run(chat, { env });
      expect([said.code, said.stdout], said.stderr).toEqual([0, 'It is gone.\n']);
      const tools = cluster.sql('SELECT tool_name FROM toolexec.calls', 'fleet').split('\n');
      expect(tools).toEqual(expect.arrayContaining(['write_file', 'list_directory', 'read_file']));
    });
  },
);

const toolCall = (name: string, args: object) => ({
  ...{ index: 0, id: `call_${name}`, type: 'function' },
  function: { name, arguments: JSON.stringify(args) },
});

/** A model that gives these answers. @returns its address */
async function answering(answers: readonly { tool_calls?: readonly object[]; content?: string }[]) {
  const left = [...answers];
  const server = createServer((request, response) => {
    request.resume();
    const delta = left.shift() ?? {};
    const chunk = (part: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta: part, finish_reason }] })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const finish = delta.tool_calls === undefined ? 'stop' : 'tool_calls';
    response.end(`${chunk(delta, null)}${chunk({}, finish)}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

it('show no password of fleet.url, and take no address with --journal', async () => {
  const url = 'postgres://me:hush@127.0.0.1:1/app';
  const env = { TOOLEXEC_FLEET_URL: url };
  const said: string[] = [];
  for (const words of [
    ['journal', 'list'],
    ['worker', '--journal', url],
    ['config', 'show', '--origin'],
    ['config', 'show', '--json'],
    ['doctor'],
  ]) {
    const { stdout, stderr, code } = await toolexec.run(words, { env, stdin: respond('a', 'read_file', {}) });
    said.push(stdout, stderr);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect([0, 1, 2], words.join(' ')).toContain(code);
  }
  expect(said.at(-2), 'doctor').toContain('127.0.0.1:1');
  expect(said.join('')).not.toContain('hush');
  expect(said.join('')).toContain('postgres://127.0.0.1:1/app');
  const wrong = await toolexec.run(['run', '-'], { env: { TOOLEXEC_FLEET_URL: 'mysql://me:hush@h/d' } });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('fleet.url must be an address such as');
  expect(wrong.stderr).not.toContain('hush');
});

it('refuse to record arguments in a database that the configuration leaves out of a journal', async () => {
  const env = { TOOLEXEC_FLEET_URL: 'postgres://127.0.0.1:1/app', TOOLEXEC_JOURNAL_REDACT: 'true' };
  const { code, stderr } = await toolexec.run(['run', '-'], { env, stdin: respond('a', 'read_file', {}) });
  expect(code).toBe(2);
  expect(stderr).toContain('journal.redact is for journals in files');
});

it('keep the tokens of a server in a journal at any path, because the server has no tools', {
  tags: ['soak'],
}, async () => {
  const place = ['--journal', join(toolexec.root, 'fleet.db')];
  const token = (...words: readonly string[]) => toolexec.run(['serve', 'token', ...words, ...place]);
  const made = await token('create', '--tenant', 'acme', '--scope', 'watch');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tx_\S+\n$/) });
  const [, id = ''] = /token (\S+) of acme/.exec(made.stderr) ?? [];
  expect((await token('list', '--json')).stdout).not.toContain('revokedAt');
  expect(await token('revoke', id)).toMatchObject({ code: 0 });
  expect((await token('list', '--json')).stdout).toContain('revokedAt');
  expect(readFileSync(join(toolexec.root, 'fleet.db')).includes(made.stdout.trim())).toBe(false);
});
