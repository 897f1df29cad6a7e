import { ToolError, isToolError } from '../errors/tool-error.js';

/** What a command gives that is all that its call does: where it could not be started, nothing was executed. */
export async function started<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    if (!isToolError(error) || error.code !== 'spawn_failed') throw error;
    const { code, message, details, cause } = error;
    throw new ToolError(code, message, { details: { ...details, executed: 'no' }, cause });
  }
}
