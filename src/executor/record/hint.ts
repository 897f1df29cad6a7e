import type { Logger } from '../../contract/context.js';
import type { Dispatcher } from '../../contract/fleet.js';
import type { CallKey } from '../../contract/journal.js';
import { reasonOf } from '../answer/results.js';

interface HintContext {
  readonly dispatcher?: Dispatcher | undefined;
  /** If absent: a lost hint is not logged. */
  readonly logger?: Logger;
}

/**
 * Makes workers look earlier for calls that may start. Workers also poll, so nothing depends on the hint, and a failure
 * is only logged.
 */
export function hint({ dispatcher, logger }: HintContext, calls: readonly CallKey[]): void {
  if (dispatcher === undefined || calls.length === 0) return;
  const failed = (error: unknown): void => logger?.warn({ why: reasonOf(error) }, 'a hint was not sent');
  try {
    Promise.resolve(dispatcher.hint(calls)).catch(failed);
  } catch (error) {
    failed(error);
  }
}
