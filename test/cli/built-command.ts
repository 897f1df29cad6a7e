import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..', '..');
const SOURCES = join(ROOT, 'src');
const BUILDS = join(ROOT, '.tmp', 'built-command');

const BUNDLERS = ['build-command.ts', 'bundle-command.ts', 'compile-validators.ts'].map((name) =>
  join(ROOT, 'scripts', name),
);

/**
 * The command as it would be shipped, built from the sources of now; the path of its program. Compiled once per
 * state of the sources, whoever asks: several test files run at the same time.
 */
export function builtCommand(): string {
  const sources = readSources();
  const place = join(BUILDS, hashOf(sources));
  const program = join(place, 'dist', 'command', 'toolexec.cjs');
  if (existsSync(program)) return program;
  const unfinished = join(BUILDS, `unfinished-${randomUUID()}`);
  compile(sources, unfinished);
  bundle(join(unfinished, 'dist'));
  removeOldBuilds();
  try {
    renameSync(unfinished, place);
  } catch {
    // Somebody else was faster, with the same result.
    rmSync(unfinished, { recursive: true });
  }
  return program;
}

// Not those of another run that may be using them at this moment.
function removeOldBuilds(): void {
  const anHourAgo = Date.now() - 3_600_000;
  for (const name of readdirSync(BUILDS)) {
    const place = join(BUILDS, name);
    if (statSync(place).mtimeMs < anHourAgo) rmSync(place, { recursive: true, force: true });
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
  for (const path of BUNDLERS) hash.update(readFileSync(path));
  for (const [name, text] of sources) hash.update(`${name}\0${text}\0`);
  return hash.digest('hex').slice(0, 16);
}

// `isolatedModules` is on, so every file compiles by itself to what a build of the whole makes of it.
function compile(sources: ReadonlyMap<string, string>, place: string): void {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  for (const [name, text] of sources) {
    const target = join(place, 'dist', name.replace(/\.ts$/, '.js'));
    const { outputText } = ts.transpileModule(text, {
      fileName: join(SOURCES, name),
      // What NodeNext makes of these files, which it could only tell from the package.json beside them.
      compilerOptions: { ...options, noEmit: false, module: ts.ModuleKind.ESNext },
    });
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
  }
  copyFileSync(join(ROOT, 'package.json'), join(place, 'package.json'));
}

// In a process of its own, because a bundler that takes plugins answers later.
function bundle(dist: string): void {
  execFileSync(process.execPath, ['--import', 'tsx', join(ROOT, 'scripts', 'build-command.ts'), dist], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
