import { openKeyboard } from '../../platform/open-keyboard.js';
import { isAutomated } from '../show/create-display.js';
import type { Surroundings } from '../surroundings.js';
import type { Check } from './check.js';

/** Whether somebody can be asked. */
export function checkTerminal({ stdio, env }: Pick<Surroundings, 'stdio' | 'env'>): Check {
  const why = whyNobodyIsThere(stdio.stderr.isTerminal, env);
  if (why === undefined) return { name: 'terminal', state: 'ok', found: 'you can be asked for approval' };
  return {
    name: 'terminal',
    state: 'missing',
    found: why,
    costs: 'Nobody can be asked: calls that need approval are answered approval_unavailable.',
    remedy: 'Say --yes, --approve ID or --deny, or allow them in a configuration.',
  };
}

function whyNobodyIsThere(isTerminal: boolean, env: Surroundings['env']): string | undefined {
  if (isAutomated(env)) return 'CI is set';
  if (!isTerminal) return 'standard error is no terminal';
  const keyboard = openKeyboard();
  keyboard?.close();
  return keyboard === undefined ? 'no keyboard belongs to this process' : undefined;
}
