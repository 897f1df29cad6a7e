// The page of examples/use-chat in a real browser, against the handler of the example.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Executor } from '../../src/contract/executor.js';
import { NO_BROWSER, Page } from './browser.js';

const ROOT = resolve(import.meta.dirname, '../..');

interface Bundled {
  createExecutor(options: { root: string; journal: string }): Executor;
  chatHandler(executor: Executor, model: unknown): (request: Request) => Promise<Response>;
  writingModel(): unknown;
}

/** The handler of the example, over our sources, and the page as a browser loads it. */
async function bundleAll(folder: string): Promise<{ readonly server: Bundled; readonly page: string }> {
  const common = { bundle: true, format: 'esm', write: true, logLevel: 'error' } as const;
  const server = join(folder, 'server.mjs');
  const contents = `export { createExecutor } from 'toolexec';
export { chatHandler } from './examples/use-chat/handler.ts';
export { writingModel } from './examples/use-chat/writing-model.ts';`;
  await build({
    ...common,
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    outfile: server,
    platform: 'node',
    target: 'node20.19',
    alias: { toolexec: join(ROOT, 'src/index.ts'), 'toolexec/ai-sdk': join(ROOT, 'src/hosts/ai-sdk.ts') },
    external: ['@photostructure/sqlite', '@vscode/ripgrep'],
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
  });
  const entryPoints = [join(ROOT, 'examples/use-chat/page.mjs')];
  const { outputFiles } = await build({ ...common, write: false, entryPoints, platform: 'browser' });
  return { server: await import(pathToFileURL(server).href), page: outputFiles[0]?.text ?? '' };
}

const HTML = `<!doctype html><title>chat</title><div id="messages"></div>
<form><input value="Write new.txt."><button>send</button></form><script type="module" src="/page.js"></script>`;

/** The page in a browser, up to the question; and the requests to the server. */
async function askedPage() {
  const folder = mkdtempSync(join(ROOT, '.tmp/use-chat-'));
  const root = mkdtempSync(join(tmpdir(), 'toolexec-use-chat-'));
  const { server, page: script } = await bundleAll(folder);
  const executor = server.createExecutor({ root, journal: join(folder, 'journal.db') });
  const handle = server.chatHandler(executor, server.writingModel());
  const bodies: string[] = [];
  const http = createServer(
    getRequestListener(async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/') return new Response(HTML, { headers: { 'content-type': 'text/html' } });
      if (pathname === '/page.js')
        return new Response(script, { headers: { 'content-type': 'text/javascript' } });
      if (pathname !== '/api/chat') return new Response('', { status: 404 });
      bodies.push(await request.clone().text());
      return await handle(request);
    }),
  );
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const page = await Page.open(url);
  onTestFinished(async () => {
    await page.close();
    http.closeAllConnections();
    http.close();
    await executor.close();
    for (const place of [folder, root]) rmSync(place, { recursive: true, force: true });
  });
  await expect.poll(() => page.evaluate('typeof globalThis.chat')).toBe('object');
  await page.evaluate("document.querySelector('form button').click()");
  const texts = () => page.evaluate("document.querySelector('#messages').textContent");
  await expect.poll(texts).toContain('approval-requested');
  const click = (name: string) =>
    page.evaluate(
      `[...document.querySelectorAll('button')].find(({ textContent }) => textContent === '${name}').click()`,
    );
  return { page, url, root, bodies, texts, click };
}

describe.skipIf(NO_BROWSER !== undefined)(
  `the page of useChat in a browser${NO_BROWSER === undefined ? '' : ` (${NO_BROWSER})`}`,
  () => {
    it('asks in the page, and runs what was approved there once', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const { url, root, bodies, texts, click } = await askedPage();
      expect(existsSync(join(root, 'new.txt'))).toBe(false);
      await click('approve');
      await expect.poll(texts).toContain('assistant: written');
      expect(existsSync(join(root, 'new.txt'))).toBe(true);
      expect(bodies).toHaveLength(2);
      rmSync(join(root, 'new.txt'));
      const again = await fetch(`${url}api/chat`, { method: 'POST', body: bodies[1] ?? '' });
      expect(await again.text()).toContain('written');
      expect(existsSync(join(root, 'new.txt'))).toBe(false);
    });

    it('runs nothing that was refused there, or whose arguments the page changed', {
      tags: ['soak'],
      timeout: 180_000,
    }, async () => {
      const refused = await askedPage();
      await refused.click('refuse');
      await expect.poll(refused.texts).toContain('output-denied');
      const forged = await askedPage();
      await forged.page.evaluate(
        "chat.lastMessage.parts.find(({ type }) => type === 'dynamic-tool').input.path = 'forged.txt'",
      );
      await forged.click('approve');
      await expect.poll(() => forged.bodies.length).toBe(2);
      expect(forged.bodies[1]).toContain('forged.txt');
      await expect.poll(forged.texts).toContain('assistant: written');
      for (const { root } of [refused, forged])
        for (const name of ['new.txt', 'forged.txt']) expect(existsSync(join(root, name))).toBe(false);
    });
  },
);
