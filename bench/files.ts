import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { toolexec, toolexecLp1 } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Goal, type Row, toMs, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const FILES = { full: 1000, quick: 20 };
const ENTRIES = { full: 10_000, quick: 50 };
const LINES = { full: 25_000, quick: 500 };
const WRITES = { full: 64, quick: 8 };
const OPERATIONS = 200;
const FULL_LISTING_BYTES = 16 * 1024 * 1024;

/** File tools through the whole executor, beside the bare calls of Node that do the same by hand. */
export function measureFiles(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const reading = compareReading(join(directory, 'small'), FILES[scale]);
    const listing = compareListing(join(directory, 'many'), ENTRIES[scale]);
    const writing = compareWriting(join(directory, 'written'), WRITES[scale]);
    const patching = comparePatching(LINES[scale]);
    const timing = await interleave(
      { ...reading.contenders, ...listing.contenders, ...writing.contenders, ...patching },
      { rounds: scale === 'quick' ? 3 : 20, warmUps: scale === 'quick' ? 1 : 5 },
    );
    await reading.close();
    await listing.close();
    await writing.close();
    const bareWrite = 'write, fsync, rename, fsync of the directory';
    const synced = { computing: false, goal: NO_MORE_THAN(1.5) } as const;
    const more = { computing: true, unit: 'ms' } as const;
    return [
      toRow(
        'read_file, 1,000 files of 1 KB in one batch',
        toMs(timing.read),
        ['readFileSync', toMs(timing.readBare)],
        { ...more, goal: NO_MORE_THAN(5) },
      ),
      toRow(
        'list_directory, 10,000 entries',
        toMs(timing.list),
        ['readdirSync, lstatSync', toMs(timing.listBare)],
        { ...more, goal: NO_MORE_THAN(2) },
      ),
      toRow(
        'write_file, new files, one after the other',
        timing.create,
        [bareWrite, timing.bareCreate],
        synced,
      ),
      toRow('write_file, new files, 64 at once', timing.createAtOnce, [bareWrite, timing.bareCreate], synced),
      toRow(
        'write_file, overwriting, one after the other',
        timing.overwrite,
        [bareWrite, timing.bareOverwrite],
        synced,
      ),
      toRow(
        'write_file, overwriting, 64 at once',
        timing.overwriteAtOnce,
        [bareWrite, timing.bareOverwrite],
        synced,
      ),
      toRow(
        'LP1, 200 operations on 1 MB',
        toMs(timing.patch),
        ['indexOf, slice', toMs(timing.patchBare)],
        more,
      ),
    ];
  });
}

const NO_MORE_THAN = (atMost: number): Goal => ({ of: 'ratio', atMost });

interface Comparison<K extends string> {
  readonly contenders: Readonly<Record<K, Contender>>;
  close(): Promise<void>;
}

function compareReading(directory: string, count: number): Comparison<'read' | 'readBare'> {
  mkdirSync(directory);
  const names = Array.from({ length: count }, (_, index) => `file-${index}.txt`);
  for (const name of names) writeFileSync(join(directory, name), `${'x'.repeat(63)}\n`.repeat(16));
  const executor = toolexec.createExecutor({
    root: directory,
    limits: { maxToolCallsPerBatch: count },
    // With the cache, the second read would not read the file.
    cache: false,
  });
  const calls = names.map((path, index) => ({ id: `c${index}`, name: 'read_file', args: { path } }));
  return {
    contenders: {
      read: once(async () => {
        const results = await executor.run(calls);
        if (!results.every(({ success }) => success)) throw new Error('a file was not read');
      }),
      readBare: once(() => names.map((name) => readFileSync(join(directory, name), 'utf8'))),
    },
    close: () => executor.close(),
  };
}

function compareListing(directory: string, count: number): Comparison<'list' | 'listBare'> {
  mkdirSync(directory);
  for (let index = 0; index < count; index++) writeFileSync(join(directory, `entry-${index}.txt`), '');
  const executor = toolexec.createExecutor({
    root: directory,
    builtins: { listDirectory: { maxEntries: count } },
    output: { maxBytes: FULL_LISTING_BYTES },
  });
  return {
    contenders: {
      list: once(async () => {
        const { output } = await executor.execute('list_directory', { path: '.' });
        if (!output.includes(`"returned":${count},`)) throw new Error('not all was listed');
      }),
      listBare: once(() => {
        const names = readdirSync(directory).sort();
        return JSON.stringify(
          names.map((name) => {
            const { size, mtimeMs } = lstatSync(join(directory, name));
            return { name, path: name, depth: 1, type: 'file', size_bytes: size, modified_epoch_ms: mtimeMs };
          }),
        );
      }),
    },
    close: () => executor.close(),
  };
}

type Writing = 'create' | 'createAtOnce' | 'bareCreate' | 'overwrite' | 'overwriteAtOnce' | 'bareOverwrite';

/** Small files, all in one directory, each on the disk before it is answered. */
function compareWriting(directory: string, count: number): Comparison<Writing> {
  const content = 'x'.repeat(1024);
  const executor = toolexec.createExecutor({
    root: directoryOf(directory),
    policy: { mode: 'auto' },
    limits: { maxToolCallsPerBatch: count },
  });
  let made = 0;
  const write = (mode: 'create' | 'overwrite', parallel: boolean): Contender => {
    const folder = `${mode}-${parallel ? 'at-once' : 'in-turn'}`;
    mkdirSync(join(directory, folder));
    return {
      units: count,
      async run() {
        const results = await executor.run(
          Array.from({ length: count }, (_, index) => ({
            id: `c${made++}`,
            name: 'write_file',
            args: { path: `${folder}/${mode === 'create' ? made : index}`, content, mode },
          })),
          { parallel },
        );
        if (!results.every(({ success }) => success)) throw new Error('a file was not written');
      },
    };
  };
  const writeBare = (mode: 'create' | 'overwrite'): Contender => {
    const folder = directoryOf(join(directory, `${mode}-bare`));
    return {
      units: count,
      run() {
        for (let index = 0; index < count; index++) {
          writeSynced(folder, `${mode === 'create' ? made++ : index}`, content);
        }
      },
    };
  };
  return {
    contenders: {
      create: write('create', false),
      createAtOnce: write('create', true),
      bareCreate: writeBare('create'),
      overwrite: write('overwrite', false),
      overwriteAtOnce: write('overwrite', true),
      bareOverwrite: writeBare('overwrite'),
    },
    close: () => executor.close(),
  };
}

function directoryOf(path: string): string {
  mkdirSync(path);
  return path;
}

function writeSynced(directory: string, name: string, content: string): void {
  const temporary = join(directory, `.${name}.tmp`);
  const descriptor = openSync(temporary, 'wx');
  writeSync(descriptor, content);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(temporary, join(directory, name));
  const parent = openSync(directory, 'r');
  fsyncSync(parent);
  closeSync(parent);
}

/** Both replace 200 lines, far apart, each of them there once. */
function comparePatching(count: number): Record<'patch' | 'patchBare', Contender> {
  const lines = Array.from({ length: count }, (_, index) => `line ${index} of a file that is to be changed`);
  const text = `${lines.join('\n')}\n`;
  const bytes = Buffer.from(text);
  const found = Array.from(
    { length: OPERATIONS },
    (_, index) => lines[Math.floor((index * count) / OPERATIONS)] ?? '',
  );
  const patch = `LP1\nF file\n${found.map((line) => `R\n${line}\n.\nchanged ${line}\n.\n`).join('')}END\n`;
  return {
    patch: once(() => toolexecLp1.applyPatch(toolexecLp1.parsePatch(patch), () => bytes)),
    patchBare: once(() => {
      let changed = bytes.toString('utf8');
      for (const line of found) {
        const at = changed.indexOf(`${line}\n`);
        // That it is there only once has to be looked for as well.
        if (changed.includes(`\n${line}\n`, at + 1)) throw new Error('there are two');
        changed = `${changed.slice(0, at)}changed ${changed.slice(at)}`;
      }
      return Buffer.from(changed);
    }),
  };
}

function once(run: () => unknown): Contender {
  return { units: 1, run };
}
