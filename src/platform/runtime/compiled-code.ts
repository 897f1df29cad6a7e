import {
  closeSync,
  constants as fsConstants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { makeDirectories } from '../fs/make-directories.js';
import { replaceFile } from '../fs/replace-file.js';

/**
 * Loads the CommonJS files of one directory as V8 compiled them in an earlier process, and keeps what it compiles now for
 * later ones: compiling is a third of what a start takes. Nothing depends on it. What is missing, was compiled by another
 * V8, or could have been written by another user is compiled as ever; where nothing can be written, nothing is kept.
 * @param files the directory of the program, all its files `.cjs` and of ASCII alone.
 * @param cache a directory for this build of the program alone, in one that holds those of other builds. What
 * can write there decides what the program does.
 */
export function loadCompiled(files: string, cache: string): void {
  const isOurs = isOwn(lstatOf(cache));
  const compiled = new Map<string, Script>();
  require.extensions['.cjs'] = (module, filename) => {
    if (dirname(filename) !== files) return require.extensions['.js']?.(module, filename);
    const kept = isOurs ? readKept(join(cache, keptName(filename))) : undefined;
    const script = compile(filename, kept);
    if (kept === undefined || script.cachedDataRejected === true) compiled.set(keptName(filename), script);
    const run: ModuleFunction = script.runInThisContext();
    run.call(module.exports, module.exports, (id) => module.require(id), module, filename, files);
  };
  // At the end, when the functions that were called are compiled too.
  process.once('exit', (code) => {
    if (compiled.size > 0 && code !== WRONG_USAGE) keep(compiled, cache);
  });
}

/** Each command calls other functions, and what its first process has compiled stays. */
function keptName(filename: string): string {
  const [, , command = ''] = process.argv;
  return `${/^[a-z]{1,12}$/.test(command) ? command : 'other'}-${basename(filename)}`;
}

/** The exit code of a process that has given up early, and has compiled little. */
const WRONG_USAGE = 2;

type ModuleFunction = (
  this: unknown,
  exports: unknown,
  require: (id: string) => unknown,
  module: NodeJS.Module,
  filename: string,
  dirname: string,
) => void;

const HEAD = '(function (exports, require, module, __filename, __dirname) { ';

function compile(filename: string, kept: Buffer | undefined): Script {
  // ASCII: Node reads it in one piece, and V8 takes a byte for a character.
  const text = readFileSync(filename, 'latin1').replace(/^#!.*/, '');
  return new Script(`${HEAD}${text}\n})`, {
    filename,
    columnOffset: -HEAD.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(kept === undefined ? {} : { cachedData: kept }),
  });
}

/** A pipe would wait for its writer. Windows has no such flag. */
const WITHOUT_WAITING = fsConstants.O_RDONLY | (fsConstants.O_NONBLOCK ?? 0);

function readKept(path: string): Buffer | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, WITHOUT_WAITING);
    const stats = fstatSync(descriptor);
    return stats.isFile() && isOwn(stats) ? readFileSync(descriptor) : undefined;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function keep(compiled: ReadonlyMap<string, Script>, cache: string): void {
  try {
    if (lstatOf(cache) === undefined) {
      makeDirectories(cache);
      removeOld(dirname(cache));
    }
    if (!isOwn(lstatOf(cache))) return;
    // Whole: a file that is half written would end the next start.
    for (const [name, script] of compiled) replaceFile(join(cache, name), script.createCachedData());
  } catch {
    // The next start compiles again.
  }
}

const OLD_MS = 30 * 24 * 60 * 60 * 1000;

/** Of builds that have been replaced. One that is still used is compiled again. */
function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name);
    if (Date.now() - (lstatOf(path)?.mtimeMs ?? Date.now()) > OLD_MS) rmSync(path, { recursive: true });
  }
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** False where users have no numbers. */
function isOwn(stats: Stats | undefined): boolean {
  return stats !== undefined && stats.uid === process.geteuid?.() && (stats.mode & 0o022) === 0;
}
