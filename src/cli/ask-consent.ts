import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { CliContext } from './cli-context.js';
import { isAutomated } from './display/display.js';
import { drawn } from './question-screen.js';

/**
 * Asks the person a question. Only `y` or `yes` means yes. Undefined if no person can be asked.
 * @param yes agreed in advance
 */
export async function askConsent(
  question: string,
  yes: boolean | undefined,
  { stdio, env }: Pick<CliContext, 'stdio' | 'env'>,
): Promise<boolean | undefined> {
  if (yes === true) return true;
  if (!stdio.stderr.isTerminal || isAutomated(env)) return undefined;
  const keyboard = openKeyboard();
  if (keyboard === undefined) return undefined;
  try {
    const line = await keyboard.readLine(
      drawn(stdio.stderr, `${question} [y/N] `),
      new AbortController().signal,
    );
    return /^y(?:es)?$/i.test((line ?? '').trim());
  } finally {
    keyboard.close();
  }
}
