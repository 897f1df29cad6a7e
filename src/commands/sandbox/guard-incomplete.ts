import { ToolError } from '../../errors/tool-error.js';

// In a separate file, because plans need it before any command has run.

/** Why deny patterns do not protect all paths. */
export const GUARD_INCOMPLETE =
  "the roots hold more than 20000 directories or 500000 entries, more than 2000 files that deny patterns name, one whose name or directory is not UTF-8, or a link to toolexec's own files, which the OS sandbox cannot guard";

export function guardIncomplete(): ToolError {
  return new ToolError(
    'sandbox_violation',
    `Cannot run commands here: ${GUARD_INCOMPLETE}. Remove files that are not needed, or do without commands.`,
    { hint: 'A root further down contains fewer files.', details: { reason: 'GuardIncomplete' } },
  );
}
