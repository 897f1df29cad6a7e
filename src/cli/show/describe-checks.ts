import { sanitize } from '../../output/sanitize.js';
import type { Check } from '../doctor/check.js';
import type { Palette } from './palette.js';

/** What a doctor found, for people: what is well on one line, what is not with its cost and its remedy. */
export function describeChecks(checks: readonly Check[], palette: Palette): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: palette.green('✓'), missing: palette.yellow('!'), broken: palette.red('✗') };
  const texts = checks.map(({ name, state, found, costs, remedy }) =>
    [
      `${marks[state]} ${name.padEnd(width)}  ${sanitize(found, 'inline')}`,
      ...(costs === undefined ? [] : [`  ${' '.repeat(width)}  ${sanitize(costs, 'inline')}`]),
      ...(remedy === undefined ? [] : [`  ${' '.repeat(width)}  → ${sanitize(remedy, 'inline')}`]),
    ].join('\n'),
  );
  return `${texts.join('\n')}\n\n${summarize(checks)}\n`;
}

function summarize(checks: readonly Check[]): string {
  const broken = checks.filter(({ state }) => state === 'broken').length;
  const missing = checks.filter(({ state }) => state === 'missing').length;
  if (broken > 0) return `No call can be run: ${broken} of what every call needs is broken.`;
  return missing === 0
    ? 'All is well.'
    : `Calls can be run; ${missing} of the parts above would make it better.`;
}
