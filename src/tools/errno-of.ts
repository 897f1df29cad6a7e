import { isToolError } from '../errors/tool-error.js';

/** The file system's own reason (`ENOENT`, `EACCES`, …) in a failed file operation. */
export function errnoOf(error: unknown): string | undefined {
  if (!isToolError(error)) return undefined;
  const { errno } = error.details;
  return typeof errno === 'string' ? errno : undefined;
}
