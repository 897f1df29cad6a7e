import { getSystemErrorMap } from 'node:util';

/** The system's name for why a call failed (`ENOENT`), where `error` is such a failure. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** `no space left on device` for `ENOSPC`: the message of Node itself would show descriptor paths. */
export function describeErrno(errno: string): string {
  for (const [name, description] of getSystemErrorMap().values()) if (name === errno) return description;
  return 'the file system refused';
}
