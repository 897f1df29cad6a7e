import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { realPlace } from '../platform/real-place.js';
import { readConfigFile } from './read-config-file.js';
import { type ProjectTrust, readTrustRecord, updateTrustRecord } from './trust-record.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Records that a project's file is trusted as it is now; changed by one byte, it is not any more.
 * @throws ToolError `config_invalid` when the file, or the record, cannot be read or written.
 */
export function trustProject(file: string, env: Environment): ProjectTrust {
  const trust = {
    file: projectPlace(file),
    sha256: hashOf(readConfigFile(file, { acceptPipes: false }).bytes),
  };
  updateTrustRecord(env, (trusts) => [...trusts.filter((other) => other.file !== trust.file), trust]);
  return trust;
}

/** Whether the record names the file with the bytes that it has now; false too where either cannot be read. */
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
 * Forgets a project's file, which need not exist any more.
 * @returns whether the record named it.
 * @throws ToolError `config_invalid` when the record cannot be read or written.
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

/** @throws ToolError `config_invalid` when the record cannot be read. */
export function isTrustedText(file: string, bytes: Uint8Array, env: Environment): boolean {
  return isRecorded({ file: projectPlace(file), sha256: hashOf(bytes) }, readTrustRecord(env));
}

/**
 * What a project's file is known by: its own place, not that of another file which it links to. Otherwise a link in
 * one project to the trusted file of another would make that file's words hold here.
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
