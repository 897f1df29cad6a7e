import { join } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { readPrivateFile, updatePrivateFile } from '../platform/private-file.js';
import { stateHome } from '../platform/user-directories.js';
import { orInvalid } from './read-config-file.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** That a person has vouched for a project's file as it is. */
export interface ProjectTrust {
  /** Absolute, its directory without links. */
  readonly file: string;
  /** Of the file's bytes, in hexadecimal. */
  readonly sha256: string;
}

/** @throws ToolError `config_invalid` when it cannot be read, is damaged, or could be somebody else's. */
export function readTrustRecord(env: Environment): readonly ProjectTrust[] {
  const path = recordPlace(env);
  return orUnusable(path, () => parseRecord(readPrivateFile(path), path));
}

/**
 * Replaces the record, one process at a time.
 * @param change gives what shall be recorded, or undefined to leave it.
 * @throws ToolError `config_invalid`
 */
export function updateTrustRecord(
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
    `Cannot read the record of trusted projects "${path}": it is damaged. Remove it, and trust your projects anew.`,
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
