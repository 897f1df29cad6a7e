import { HOOK_EVENTS } from '../hooks/hook-options.js';
import type { ConfigKey } from './config-key.js';
import { hookGroups } from './table-kinds.js';
import { never } from './tighten.js';

/** `[[hooks.PreToolUse]]` and so on. */
export const HOOK_KEYS: Readonly<Record<string, ConfigKey>> = Object.fromEntries(
  HOOK_EVENTS.map((event) => [
    `hooks.${event}`,
    {
      kind: hookGroups(event),
      fallback: [],
      option: `executor.hooks.${event}`,
      meaning: 'Programs that are run at this event ([hooks.md](hooks.md)).',
      tighten: never,
    },
  ]),
);
