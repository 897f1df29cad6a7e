import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..', '..');
const SOURCES = join(ROOT, 'src');
const BUILDS = join(ROOT, '.tmp', 'built-command');

const SCRIPTS = readdirSync(join(ROOT, 'scripts'), { encoding: 'utf8' })
  .sort()
  .map((name) => join(ROOT, 'scripts', name));

/**
 * The command as it would be shipped, built from the sources of now; the path of its program. Built once per
 * state of the sources: several test files run at the same time.
 */
export function builtCommand(): string {
  const sources = readSources();
  const place = join(BUILDS, hashOf(sources));
  const program = join(place, 'dist', 'command', 'toolexec.cjs');
  if (existsSync(program)) return program;
  const unfinished = join(BUILDS, `unfinished-${randomUUID()}`);
  build(join(unfinished, 'dist'));
  removeOldBuilds();
  try {
    renameSync(unfinished, place);
  } catch {
    // Another test file was faster, with the same result.
    rmSync(unfinished, { recursive: true });
  }
  return program;
}

// Not those of another run that may be using them at this moment.
function removeOldBuilds(): void {
  const anHourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(BUILDS)) {
    const place = join(BUILDS, name);
    // Another test file may have finished one meanwhile, which gives it another name.
    const made = statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (made < anHourAgo) rmSync(place, { recursive: true, force: true });
  }
}

function readSources(): ReadonlyMap<string, string> {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.(?:test|bench)\.ts$/.test(name))
    .sort();
  return new Map(names.map((name) => [name, readFileSync(join(SOURCES, name), 'utf8')]));
}

function hashOf(sources: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  for (const path of SCRIPTS) hash.update(readFileSync(path));
  for (const [name, text] of sources) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 16);
}

// In a process of its own: a bundler that takes plugins answers asynchronously.
function build(dist: string): void {
  const script = join(ROOT, 'scripts', 'build.ts');
  execFileSync(process.execPath, ['--import', 'tsx', script, '--no-types', '--out', dist], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  copyFileSync(join(ROOT, 'package.json'), join(dirname(dist), 'package.json'));
}
