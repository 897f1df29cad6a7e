import { basename, dirname, join } from 'node:path';
import type { ChangeOptions, ContainedFiles, PlacedBytes, ReadOptions } from '../../contract/files.js';
import { grants, grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { ChangeTally } from './change-tally.js';
import type { ReadyCall } from './evaluated-call.js';
import type { Lease } from './lease.js';
import type { FileSettings } from './settings.js';

type Access = 'read' | 'write' | 'delete';

/** Records the changes of a call. */
interface ChangeRecord {
  readonly intend?: ChangeOptions['intend'];
  readonly tally?: ChangeTally;
}

/**
 * The sandbox's files, restricted to the effects that the call has declared. The handle works only until the call is
 * answered.
 */
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

  // A patch may declare thousands of files and then asks for each by name, so exact names are looked up in a
  // set.
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

  /**
   * A link is not followed when the tool looks at the entry itself, even if the link leads out of the
   * declared paths.
   */
  function requireLook(path: string): void {
    const name = basename(path);
    const isEntry = name !== '' && name !== '.' && name !== '..';
    const entry = isEntry ? join(sandbox.resolve(dirname(path), 'read'), name) : undefined;
    if (entry !== undefined && isGranted('read', entry)) lease.require(`read "${path}"`);
    else require('read', path);
  }

  /** Whether `path` names a stored output. Stored outputs can only be read, and only if declared. */
  function requireOutput(path: string): boolean {
    if (!outputs.owns(path)) return false;
    lease.require(`read "${path}"`);
    allow('read', path, path);
    return true;
  }

  // The grant is checked for the place that was actually opened and read, so no second look at the file
  // system is needed.
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
      // An undeclared path is refused as undeclared, whether or not the file exists.
      require('read', path);
      throw error;
    }
    allow('read', path, read.path);
    return read;
  }

  // A rename replaces the entry itself. If the entry is a link, its target stays unchanged.
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

  // The call may be answered while a change waits for the disk, the journal or another process, so the lease
  // is checked again.
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

/** The same files, read-only, for callbacks of a tool that run before or after its call. */
export function grantFilesToLook(ready: ReadyCall, settings: FileSettings, lease: Lease): ContainedFiles {
  const refuse = async (): Promise<never> => {
    throw new ToolError('sandbox_violation', 'Cannot change files: they can only be looked at now.');
  };
  const files = grantFiles(ready, settings, lease);
  return { ...files, write: refuse, writeAll: refuse, remove: refuse, rename: refuse };
}
