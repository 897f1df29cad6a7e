import { basename, dirname, join } from 'node:path';
import type { ChangeOptions, ContainedFiles, PlacedBytes, ReadOptions } from '../../contract/files.js';
import { grants, grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { ChangeTally } from './change-tally.js';
import type { ReadyCall } from './evaluated-call.js';
import type { Lease } from './lease.js';
import type { FileSettings } from './settings.js';

type Access = 'read' | 'write' | 'delete';

/** How the changes of a call are kept track of. */
interface ChangeRecord {
  readonly intend?: ChangeOptions['intend'];
  readonly tally?: ChangeTally;
}

/** The sandbox's files, narrowed to what the call has declared, for as long as the call lives. */
export function grantFiles(
  ready: ReadyCall,
  settings: FileSettings,
  lease: Lease,
  { intend, tally = new ChangeTally() }: ChangeRecord = {},
): ContainedFiles {
  const { sandbox, covers, outputs } = settings;
  const { files } = sandbox;
  const everything = ready.effects.some(({ effect }) => grantsEverything(effect));

  function require(access: Access, path: string): void {
    lease.require(`${access} "${path}"`);
    allow(access, path, sandbox.resolve(path, access));
  }

  // A patch may declare thousands of files, and asks for each by its own name.
  const declared = new Map<Access, Set<string>>();
  function isDeclaredByName(access: Access, asked: string): boolean {
    const [first] = ready.effects;
    if (first?.at === asked && grants(first.effect, access)) return true;
    let names = declared.get(access);
    if (names === undefined) {
      names = new Set(
        ready.effects.flatMap(({ effect, at }) => (at !== undefined && grants(effect, access) ? [at] : [])),
      );
      declared.set(access, names);
    }
    return names.has(asked);
  }

  function allow(access: Access, path: string, asked: string): void {
    if (!isGranted(access, asked)) throw undeclared(access, path);
  }

  function isGranted(access: Access, asked: string): boolean {
    if (everything || isDeclaredByName(access, asked)) return true;
    return ready.effects.some(
      ({ effect, at }) => at !== undefined && grants(effect, access) && covers(at, asked),
    );
  }

  /** What an entry is may be told of a link too that leads elsewhere: it is not followed. */
  function requireLook(path: string): void {
    const name = basename(path);
    const isEntry = name !== '' && name !== '.' && name !== '..';
    const entry = isEntry ? join(sandbox.resolve(dirname(path), 'read'), name) : undefined;
    if (entry !== undefined && isGranted('read', entry)) lease.require(`read "${path}"`);
    else require('read', path);
  }

  /** A kept output, where `path` is the name of one: only to be read, and only as declared. */
  function requireOutput(path: string): boolean {
    if (!outputs.owns(path)) return false;
    lease.require(`read "${path}"`);
    allow('read', path, path);
    return true;
  }

  // The place that was read is the one that must be granted: asked of what was open, it needs no second look.
  async function readPlaced(path: string, options?: ReadOptions): Promise<PlacedBytes> {
    if (requireOutput(path)) return { path, bytes: await outputs.read(path, options) };
    lease.require(`read "${path}"`);
    if (files.readPlaced === undefined) {
      require('read', path);
      return { path: sandbox.resolve(path, 'read'), bytes: await files.read(path, options) };
    }
    let read: PlacedBytes;
    try {
      read = await files.readPlaced(path, options);
    } catch (error) {
      // What was not declared is refused as such, whether or not it is there.
      require('read', path);
      throw error;
    }
    allow('read', path, read.path);
    return read;
  }

  // What a rename replaces is the entry itself: where it is a link, not what it leads to.
  function requireReplace(path: string): void {
    lease.require(`write "${path}"`);
    allow('write', path, sandbox.resolve(path, 'delete'));
  }

  function undeclared(access: Access, path: string): ToolError {
    return new ToolError(
      'sandbox_violation',
      `Cannot ${access} "${path}": ${ready.tool.name} did not declare it.`,
      {
        hint: `Declare { kind: '${access}', path } in the effects of the tool.`,
        details: { reason: 'UndeclaredEffect', attempted: path, access },
      },
    );
  }

  // While bytes go to the disk, or the journal, or other processes are waited for, the call may be answered.
  const check = (): void => lease.require('change files');
  const recorded: ChangeOptions = intend === undefined ? { check } : { check, intend };
  return {
    resolve(path) {
      if (requireOutput(path)) return path;
      require('read', path);
      return sandbox.resolve(path, 'read');
    },
    async read(path, options) {
      return (await readPlaced(path, options)).bytes;
    },
    readPlaced,
    async write(path, bytes, options) {
      require('write', path);
      return tally.count(files.write(path, bytes, { mode: options.mode, ...recorded }));
    },
    async writeAll(changes, options) {
      for (const { path, bytes, like } of changes) {
        require(bytes === null ? 'delete' : 'write', path);
        if (like !== undefined) require('read', like);
      }
      const checkBoth = (): void => {
        check();
        options?.check?.();
      };
      return tally.count(files.writeAll(changes, { ...recorded, check: checkBoth }));
    },
    async list(path) {
      require('read', path);
      return files.list(path);
    },
    async stat(path) {
      if (requireOutput(path)) return outputs.stat(path);
      requireLook(path);
      return files.stat(path);
    },
    async statEntries(directory, names) {
      require('read', directory);
      return (await files.statEntries?.(directory, names)) ?? [];
    },
    async remove(path) {
      require('delete', path);
      return tally.count(files.remove(path, recorded));
    },
    async rename(from, to) {
      require('delete', from);
      requireReplace(to);
      return tally.count(files.rename(from, to, recorded));
    },
  };
}

/** The same, to look at and not to change: for what is asked of a tool before or after its call. */
export function grantFilesToLook(ready: ReadyCall, settings: FileSettings, lease: Lease): ContainedFiles {
  const refuse = async (): Promise<never> => {
    throw new ToolError('sandbox_violation', 'Cannot change files: they can only be looked at now.');
  };
  const files = grantFiles(ready, settings, lease);
  return { ...files, write: refuse, writeAll: refuse, remove: refuse, rename: refuse };
}
