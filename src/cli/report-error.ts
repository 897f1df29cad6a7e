import { EXIT_CODES } from '../errors/catalogue.js';
import { isToolError } from '../errors/tool-error.js';
import { sanitize } from '../output/sanitize.js';
import type { ExitCode } from './exit-code.js';
import { toSafeJson } from './show/to-safe-json.js';
import type { Surroundings } from './surroundings.js';
import { UsageError } from './usage-error.js';

/** What the person can do something about by typing it differently. */
const MENDABLE = ['config_invalid', 'already_decided', 'unknown_batch'] as const;

/** The one line that is left of an error; the stack only for who asks for it (TOOLEXEC_DEBUG=1). */
export function reportError(error: unknown, { stdio, env }: Omit<Surroundings, 'exitNow'>): ExitCode {
  const isMendable = error instanceof UsageError || MENDABLE.some((code) => isToolError(error, code));
  const told = error instanceof Error ? error.message : String(error);
  const message = isMendable
    ? told
    : `Something went wrong inside toolexec: ${told} (TOOLEXEC_DEBUG=1 shows where).`;
  const asJson = stdio.args.includes('--json');
  stdio.stderr.write(
    asJson ? `${toSafeJson({ type: 'error', message })}\n` : `toolexec: ${sanitize(message, 'inline')}\n`,
  );
  if (env.TOOLEXEC_DEBUG === '1' && error instanceof Error)
    stdio.stderr.write(`${sanitize(error.stack ?? '')}\n`);
  return isMendable ? EXIT_CODES.usage.code : EXIT_CODES.failed.code;
}
