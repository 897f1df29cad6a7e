import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gfm } from '@joplin/turndown-plugin-gfm';
import { parseHTML } from 'linkedom/worker';
import TurndownService from 'turndown';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { interleave } from './measure.js';
import { type Row, toMs, toRow } from './row.js';

const CALLS = 200;
const RESULT_BYTES = 100_000;
const PAGE_BYTES = 1_000_000;

/** The cost of knowing the origins of data, and of fetching a page. */
export async function measureProvenance(scale: Scale): Promise<readonly Row[]> {
  const isQuick = scale === 'quick';
  return [
    await measureOrigins(isQuick, 'read'),
    await measureOrigins(isQuick, 'write'),
    await measureFetch(isQuick),
  ];
}

/** Of calls that read, no decision depends on their arguments; for each call that writes, all results are searched. */
async function measureOrigins(isQuick: boolean, access: 'read' | 'write'): Promise<Row> {
  const calls = isQuick ? 5 : CALLS;
  const texts = Array.from({ length: calls }, (_, at) => textOf(at));
  let round = 0;
  const conversation = (provenance: 'warn' | 'off') => ({
    units: calls,
    run: async () => {
      await using executor = toolexec.createExecutor({
        tools: [mailTool(access, (at) => texts[at] ?? '')],
        policy: {
          mode: 'auto',
          allowlist: [],
          provenance,
          rules: [{ decision: 'allow', tool: 'read_mail' }],
        },
        journal: false,
      });
      const name = `talk_${round++}`;
      for (let at = 0; at < calls; at++) {
        const query = `what was said about the meeting number ${at}`;
        const { success } = await executor.execute('read_mail', { at, query }, { conversation: name });
        if (!success) throw new Error('the call failed');
      }
    },
  });
  const { warn, off } = await interleave(
    { warn: conversation('warn'), off: conversation('off') },
    { rounds: isQuick ? 1 : 9, warmUps: isQuick ? 0 : 2 },
  );
  const what = `a call that ${access}s, in a conversation of 200, results of 100 KB, origins tracked`;
  return toRow(what, warn, ['off', off], { computing: true, goal: { of: 'ratio', atMost: 1.1 } });
}

function mailTool(access: 'read' | 'write', answer: (at: number) => string) {
  return toolexec.defineTool({
    name: 'read_mail',
    description: 'Reads.',
    input: {
      type: 'object',
      properties: { at: { type: 'integer' }, query: { type: 'string' } },
      required: ['at', 'query'],
    },
    effects: () => [{ kind: 'call', server: 'mail', tool: 'read_mail', access }],
    execute: ({ at }) => answer(at),
  });
}

function textOf(seed: number): string {
  let text = '';
  for (let line = 0; text.length < RESULT_BYTES; line++)
    text += `line ${line} of mail ${seed}: ${((line + 1) * (seed + 7919)).toString(36)} and some more words\n`;
  return text.slice(0, RESULT_BYTES);
}

async function measureFetch(isQuick: boolean): Promise<Row> {
  const page = pageOf(PAGE_BYTES);
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}/`;
  const webFetch = { allowPrivate: [host], respectRobots: false, maxBytes: 2 * PAGE_BYTES };
  const executor = toolexec.createExecutor({
    tools: toolexec.builtinTools({ webFetch }),
    approver: null,
    journal: false,
  });
  try {
    const { ours, bare } = await interleave(
      {
        ours: {
          units: 1,
          run: async () => {
            const { success, error } = await executor.execute('web_fetch', { url });
            if (!success) throw new Error(error?.message);
          },
        },
        bare: { units: 1, run: () => fetchBare(url) },
      },
      { rounds: isQuick ? 1 : 15, warmUps: isQuick ? 0 : 3 },
    );
    const beside = ['fetch, linkedom and turndown', toMs(bare)] as const;
    return toRow('web_fetch of 1 MB of HTML', toMs(ours), beside, { unit: 'ms', computing: true });
  } finally {
    await executor.close();
    server.closeAllConnections();
    server.close();
  }
}

async function fetchBare(url: string): Promise<void> {
  const answer = await fetch(url);
  const { document } = parseHTML(await answer.text());
  const service = new TurndownService();
  service.use(gfm);
  const text = service.turndown((document as { readonly body: unknown }).body as TurndownService.Node);
  if (text.length < PAGE_BYTES / 4) throw new Error('most of the page is missing');
}

function pageOf(bytes: number): string {
  const parts = ['<!doctype html><html><head><title>A long page</title></head><body><h1>A long page</h1>'];
  let size = 0;
  for (let at = 0; size < bytes; at++) {
    const part = `<h2>Section ${at}</h2><p>Some <b>bold</b> text with <a href="/page/${at}">a link</a>, and ${'words '.repeat(60)}</p>`;
    parts.push(part);
    size += part.length;
  }
  return `${parts.join('')}</body></html>`;
}
