import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** A Chromium of this machine; undefined: there is none. */
export const CHROMIUM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

type Fields = Readonly<Record<string, unknown>>;

/** A page in a real browser, driven over a pipe. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #profile = mkdtempSync(join(tmpdir(), 'toolexec-browser-'));
  readonly #answers = new Map<
    number,
    { resolve: (result: Fields) => void; reject: (error: Error) => void }
  >();
  readonly #listeners = new Set<(method: string, params: Fields) => void>();
  #count = 0;
  #session: string | undefined;
  #rest = '';
  /** The addresses that the page has requested, and its errors. */
  readonly requests: string[] = [];
  readonly complaints: string[] = [];

  constructor(program: string) {
    const options = ['--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe'];
    this.#process = spawn(program, [...options, `--user-data-dir=${this.#profile}`, 'about:blank'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const input = this.#process.stdio[4] as Readable;
    input.setEncoding('utf8');
    input.on('data', (text: string) => this.#take(text));
  }

  async open(url: string): Promise<void> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    this.#session = String(sessionId);
    this.#listeners.add((method, params) => {
      if (method === 'Network.requestWillBeSent') this.requests.push(String((params.request as Fields).url));
      if (method === 'Page.javascriptDialogOpening')
        this.complaints.push(`dialog: ${String(params.message)}`);
      if (method === 'Log.entryAdded') this.complaints.push(String((params.entry as Fields).text));
    });
    await this.send('Page.enable');
    await this.send('Network.enable');
    await this.send('Log.enable');
    const loaded = new Promise<void>((resolve) => {
      this.#listeners.add((method) => method === 'Page.loadEventFired' && resolve());
    });
    await this.send('Page.navigate', { url });
    await loaded;
  }

  async show(width: number, scheme: 'light' | 'dark'): Promise<void> {
    const size = { width, height: 900, deviceScaleFactor: 1, mobile: false };
    await this.send('Emulation.setDeviceMetricsOverride', size);
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.send('Emulation.setEmulatedMedia', { features });
  }

  /** The value of an expression in the page. */
  async ask(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', {
      expression,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as Fields).value;
  }

  async press(key: 'Tab' | 'Enter' | 'ArrowRight'): Promise<void> {
    const code = { Tab: 9, Enter: 13, ArrowRight: 39 }[key];
    const text = key === 'Enter' ? { text: '\r' } : {};
    const event = { key, code: key, windowsVirtualKeyCode: code, ...text };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  send(method: string, params: Fields = {}): Promise<Fields> {
    const id = ++this.#count;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    (this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => this.#answers.set(id, { resolve, reject }));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    // With its children, which would go on writing into the profile.
    process.kill(-Number(this.#process.pid), 'SIGKILL');
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  #take(text: string): void {
    const messages = `${this.#rest}${text}`.split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const { id, method, params, result, error } = JSON.parse(message);
      for (const listener of this.#listeners) if (method !== undefined) listener(method, params);
      const answer = this.#answers.get(id);
      this.#answers.delete(id);
      if (error === undefined) answer?.resolve(result);
      else answer?.reject(new Error(JSON.stringify(error)));
    }
  }
}
