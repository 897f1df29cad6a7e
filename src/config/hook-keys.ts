import { HOOK_EVENTS } from '../hooks/hook-options.js';
import type { ConfigKey } from './config-key.js';
import { HOOKS } from './table-kinds.js';
import { never } from './tighten.js';

/** `[[hooks.PreToolUse]]` and so on. */
export const HOOK_KEYS: Readonly<Record<string, ConfigKey>> = Object.fromEntries(
  HOOK_EVENTS.map((event) => [
    `hooks.${event}`,
    {
      kind: HOOKS,
      fallback: [],
      option: `executor.hooks.${event}`,
      meaning: 'Programs that are run at this event of a call ([hooks.md](hooks.md)).',
      tighten: never,
    },
  ]),
);
