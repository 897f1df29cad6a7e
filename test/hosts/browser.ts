import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** Why there is no browser here; undefined: there is one. */
export const NO_BROWSER = PROGRAM === undefined ? 'chromium is not installed' : undefined;

/** A page in a real browser, driven through its debugging pipe. */
export class Page {
  readonly #browser: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #session: string | undefined;
  #last = 0;

  private constructor(browser: ChildProcess, profile: string) {
    this.#browser = browser;
    this.#profile = profile;
    let text = '';
    (browser.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      const messages = `${text}${chunk}`.split('\0');
      text = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  static async open(url: string): Promise<Page> {
    const profile = mkdtempSync(join(tmpdir(), 'toolexec-browser-'));
    const options = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--remote-debugging-pipe',
    ];
    const browser = spawn(PROGRAM ?? '', [...options, `--user-data-dir=${profile}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const page = new Page(browser, profile);
    const { targetId } = await page.#send('Target.createTarget', { url });
    const { sessionId } = await page.#send('Target.attachToTarget', { targetId, flatten: true });
    page.#session = String(sessionId);
    return page;
  }

  /** The value of an expression in the page, as JSON. */
  async evaluate(expression: string): Promise<unknown> {
    const how = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', how);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#browser.once('exit', done));
    if (this.#browser.pid !== undefined) process.kill(-this.#browser.pid, 'SIGKILL');
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #send(method: string, params: object): Promise<Record<string, unknown>> {
    this.#last += 1;
    const id = this.#last;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    (this.#browser.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (result === undefined) reject(new Error(`${method}: ${error?.message}`));
        else resolve(result);
      });
    });
  }

  #receive(answer: Answer): void {
    if (answer.id === undefined) return;
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }
}

interface Answer {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}
