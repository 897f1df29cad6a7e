import type { Logger, Middleware } from '../../contract/context.js';

/** Logs every call's start and end; arguments and outputs stay out of the log, because they may hold secrets. */
export function loggingMiddleware(logger: Logger): Middleware {
  return async (call, { conversation, risk }, next) => {
    logger.info({ callId: call.id, tool: call.name, conversation, risk }, 'tool call started');
    const result = await next();
    const { success, executionTimeMs, truncated } = result;
    const data = { callId: call.id, tool: call.name, success, executionTimeMs, truncated };
    if (result.success) logger.info(data, 'tool call succeeded');
    else logger.warn({ ...data, code: result.error.code }, 'tool call failed');
    return result;
  };
}
