import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll } from 'vitest';
import { REPOSITORY, removeOld, stateOfSources } from '../../src/testing/fixtures/state-of-sources.js';

const BUILDS = join(REPOSITORY, '.tmp', 'built-command');

let built: string | undefined;

/**
 * The command as it would be shipped, built from the current sources; the path of its program. Built once per state of
 * the sources: several test files run at the same time.
 */
export function builtCommand(): string {
  built ??= buildOnce();
  return built;
}

/** For a test file that needs it: the time limit of a single test is not enough on a busy machine. */
export function buildFirst(): void {
  beforeAll(() => void builtCommand(), 240_000);
}

function buildOnce(): string {
  const state = createHash('sha256')
    .update(readFileSync(import.meta.filename))
    .update(readFileSync(join(REPOSITORY, 'package.json')))
    .update(stateOfSources('src', 'scripts'));
  const place = join(BUILDS, state.digest('hex').slice(0, 16));
  const program = join(place, 'dist', 'command', 'toolexec.cjs');
  if (existsSync(program)) return program;
  const lock = `${place}.lock`;
  if (!isFirst(lock) && wasBuilt(program, lock)) return program;
  try {
    buildInto(place);
  } finally {
    rmSync(lock, { force: true });
  }
  return program;
}

function buildInto(place: string): void {
  const unfinished = join(BUILDS, `unfinished-${randomUUID()}`);
  build(join(unfinished, 'dist'));
  removeOld(BUILDS);
  try {
    renameSync(unfinished, place);
  } catch {
    // Another test file was faster, with the same result.
    rmSync(unfinished, { recursive: true });
  }
}

function isFirst(lock: string): boolean {
  mkdirSync(BUILDS, { recursive: true });
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** Waits for another process that builds it; false if that has died. */
function wasBuilt(program: string, lock: string): boolean {
  while (!existsSync(program) && isHeld(lock)) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  }
  return existsSync(program);
}

function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')) || process.pid, 0);
    return true;
  } catch {
    return false;
  }
}

// In a separate process: a bundler with plugins answers asynchronously.
function build(dist: string): void {
  const script = join(REPOSITORY, 'scripts', 'build.ts');
  execFileSync(process.execPath, ['--import', 'tsx', script, '--no-types', '--out', dist], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  copyFileSync(join(REPOSITORY, 'package.json'), join(dirname(dist), 'package.json'));
}
