import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';
import { onUnhandledError } from './unhandled-errors.js';

const MODULE = pathToFileURL(bundleProgram(`${import.meta.dirname}/unhandled-errors.ts`)).href;

/** A separate program: an uncaught error ends it. */
function run(program: string): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  const text = `import { onUnhandledError } from '${MODULE}';\n${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
}

const LATER = "setTimeout(() => console.log('alive'), 50);";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
});

function heardBy(event: 'uncaughtException' | 'unhandledRejection'): unknown[] {
  const heard: unknown[] = [];
  const listen = (error: unknown): number => heard.push(error);
  process.on(event, listen);
  stops.push(() => process.removeListener(event, listen));
  return heard;
}

describe('onUnhandledError()', () => {
  it.each([
    ['an exception', "setTimeout(() => { throw new Error('stray'); }, 1);"],
    ['a rejection', "void Promise.reject(new Error('stray'));"],
  ])('hands %s to the newest handler, and to an older one only when it declines', (_what, stray) => {
    const { status, stdout } = run(`
      onUnhandledError((error) => { console.log('old', error.message); return true; });
      const stop = onUnhandledError((error) => {
        console.log('new', error.message);
        setImmediate(() => { stop(); onUnhandledError(() => false); ${stray} ${LATER} });
        return true;
      });
      ${stray}`);
    expect({ status, lines: stdout.trim().split('\n') }).toEqual({
      status: 0,
      lines: ['new stray', 'old stray', 'alive'],
    });
  });

  it.each([
    ['an exception', "setTimeout(() => { throw new Error('stray'); }, 1);"],
    ['a rejection', "void Promise.reject(new Error('stray'));"],
  ])('lets %s end the process when all decline, and when all have stopped', (_what, stray) => {
    for (const handlers of ['onUnhandledError(() => false);', 'onUnhandledError(() => true)();']) {
      const { status, stdout, stderr } = run(`${handlers} ${stray} ${LATER}`);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toContain('stray');
    }
  });

  it('leaves what it declines to the listeners of the host program', () => {
    const { status, stdout } = run(`
      process.on('uncaughtException', ({ message }) => console.log('host', message));
      onUnhandledError(() => false);
      setTimeout(() => { throw new Error('stray'); }, 1); ${LATER}`);
    expect({ status, lines: stdout.trim().split('\n') }).toEqual({
      status: 0,
      lines: ['host stray', 'alive'],
    });
  });

  it('keeps what it handles from all listeners, and hands on the rest', () => {
    const heard = heardBy('unhandledRejection');
    stops.push(onUnhandledError((error) => error === 'ours'));
    const promise = Promise.resolve();
    // The listeners of the test runner would receive such errors too, so nothing is really emitted.
    for (const listener of process.listeners('unhandledRejection').slice(0, -1)) {
      process.removeListener('unhandledRejection', listener);
      stops.unshift(() => process.on('unhandledRejection', listener));
    }
    expect(process.emit('unhandledRejection', 'ours', promise)).toBe(true);
    expect(process.emit('unhandledRejection', 'theirs', promise)).toBe(true);
    expect(heard).toEqual(['theirs']);
  });

  it('adds no listener, and leaves nothing behind when it is stopped', () => {
    const emit = Object.getOwnPropertyDescriptor(process, 'emit');
    const count = process.listenerCount('uncaughtException');
    const stop = onUnhandledError(() => true);
    expect(process.listenerCount('uncaughtException')).toBe(count);
    stop();
    expect(Object.getOwnPropertyDescriptor(process, 'emit')).toEqual(emit);
  });

  it('passes everything on if it is stopped while another handler is in front of it', () => {
    const handled: unknown[] = [];
    const stopFirst = onUnhandledError((error) => handled.push(error) > 0);
    const stopSecond = onUnhandledError(() => false);
    stopFirst();
    const heard: unknown[] = [];
    process.once('toolexec-test' as 'exit', (value) => heard.push(value));
    process.emit('toolexec-test' as 'exit', 5);
    stopSecond();
    expect(heard).toEqual([5]);
    expect(handled).toEqual([]);
  });
});
