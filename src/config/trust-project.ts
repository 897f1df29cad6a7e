import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { stateHome } from '../platform/runtime/environment.js';
import { readPrivateFile, updatePrivateFile } from '../platform/sqlite/private-file.js';
import { orInvalid, readConfigFile } from './read-config-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Records that a project's file is trusted with its current content; any change ends that.
 * @throws ToolError `config_invalid` if the file, or the record, cannot be read or written.
 */
export function trustProject(file: string, env: Environment): ProjectTrust {
  const trust = {
    file: projectPlace(file),
    sha256: hashOf(readConfigFile(file, { acceptPipes: false }).bytes),
  };
  updateTrustRecord(env, (trusts) => [...trusts.filter((other) => other.file !== trust.file), trust]);
  return trust;
}

/** Whether the record contains the file with its current content; false if either is unreadable. */
export function isTrusted(file: string, env: Environment): boolean {
  try {
    const { bytes } = readConfigFile(file, { acceptPipes: false });
    return isRecorded({ file: projectPlace(file), sha256: hashOf(bytes) }, readTrustRecord(env));
  } catch (error) {
    if (error instanceof ToolError) return false;
    throw error;
  }
}

/**
 * Removes a project's file, which may no longer exist, from the record.
 * @returns whether the record contained it.
 * @throws ToolError `config_invalid` if the record cannot be read or written.
 */
export function distrustProject(file: string, env: Environment): boolean {
  const place = projectPlace(file);
  let wasNamed = false;
  updateTrustRecord(env, (trusts) => {
    const others = trusts.filter((trust) => trust.file !== place);
    wasNamed = others.length < trusts.length;
    return wasNamed ? others : undefined;
  });
  return wasNamed;
}

/** @throws ToolError `config_invalid` if the record cannot be read. */
export function isTrustedText(file: string, bytes: Uint8Array, env: Environment): boolean {
  return isRecorded({ file: projectPlace(file), sha256: hashOf(bytes) }, readTrustRecord(env));
}

/**
 * A project's file is identified by its own path, not by the target of a link. Otherwise a link to the
 * trusted file of another project would apply that file here.
 */
export function projectPlace(file: string): string {
  const path = resolve(file);
  return join(realPlace(dirname(path)), basename(path));
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isRecorded(trust: ProjectTrust, record: readonly ProjectTrust[]): boolean {
  return record.some(({ file, sha256 }) => file === trust.file && sha256 === trust.sha256);
}

/** A project file that a person trusts with this content. */
interface ProjectTrust {
  /** Absolute, with a link-free directory. */
  readonly file: string;
  /** Of the file's bytes, in hex. */
  readonly sha256: string;
}

/** @throws ToolError `config_invalid` if it is unreadable, damaged, or possibly another user's. */
function readTrustRecord(env: Environment): readonly ProjectTrust[] {
  const path = recordPlace(env);
  return orUnusable(path, () => parseRecord(readPrivateFile(path), path));
}

/**
 * Replaces the record, one process at a time.
 * @param change returns the new record, or undefined to keep it.
 * @throws ToolError `config_invalid`
 */
function updateTrustRecord(
  env: Environment,
  change: (trusts: readonly ProjectTrust[]) => readonly ProjectTrust[] | undefined,
): void {
  const path = recordPlace(env);
  orUnusable(path, () => {
    updatePrivateFile(path, (bytes) => {
      const changed = change(parseRecord(bytes, path));
      return changed === undefined ? bytes : writeRecord(changed);
    });
  });
}

function recordPlace(env: Environment): string {
  return join(stateHome(env), 'toolexec', 'trusted.json');
}

function writeRecord(trusted: readonly ProjectTrust[]): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version: 1, trusted }, null, 2)}\n`);
}

function parseRecord(bytes: Uint8Array | undefined, path: string): readonly ProjectTrust[] {
  if (bytes === undefined) return [];
  const trusted = trustedOf(bytes);
  if (Array.isArray(trusted) && trusted.every(isTrust)) return trusted;
  throw new ToolError(
    'config_invalid',
    `Cannot read the record of trusted projects "${path}": it is damaged. Remove it, and trust your projects again.`,
  );
}

function trustedOf(bytes: Uint8Array): unknown {
  try {
    const record: { readonly version?: unknown; readonly trusted?: unknown } | null = JSON.parse(
      Buffer.from(bytes).toString('utf8'),
    );
    return record?.version === 1 ? record.trusted : undefined;
  } catch {
    return undefined;
  }
}

function isTrust(value: unknown): value is ProjectTrust {
  if (typeof value !== 'object' || value === null) return false;
  const { file, sha256 }: { readonly file?: unknown; readonly sha256?: unknown } = value;
  return typeof file === 'string' && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);
}

function orUnusable<T>(path: string, action: () => T): T {
  try {
    return orInvalid(`the record of trusted projects "${path}"`, action);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError('config_invalid', `Cannot use the record of trusted projects "${path}": ${reason}.`, {
      cause: error,
    });
  }
}
