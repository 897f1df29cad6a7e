import { systemClock } from '../../platform/clock.js';
import type { TextOutput } from '../../platform/stdio.js';
import type { Display } from './display.js';
import { createJsonDisplay } from './json-display.js';
import { createLiveDisplay } from './live-display.js';
import { createPalette } from './palette.js';
import { createPlainDisplay } from './plain-display.js';

/** The display that suits standard error: nothing moves where nobody sees it move. */
export function createDisplay(
  out: TextOutput,
  json: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Display {
  if (json) return createJsonDisplay(out);
  const palette = createPalette(out.isTerminal, env);
  return isAnimated(out, env)
    ? createLiveDisplay(out, palette, systemClock)
    : createPlainDisplay(out, palette);
}

function isAnimated(out: TextOutput, env: Readonly<Record<string, string | undefined>>): boolean {
  return out.isTerminal && env.TERM !== 'dumb' && !isAutomated(env);
}

/** Continuous integration: there may be a terminal, and there is nobody in front of it. */
export function isAutomated(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.CI !== undefined && !['', '0', 'false'].includes(env.CI);
}
