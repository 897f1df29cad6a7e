import type { Effect } from '../contract/effect.js';

/** The default approval summary: what the call will touch, in words. */
export function describeEffects(toolName: string, effects: readonly Effect[]): string {
  if (effects.length === 0) return `${toolName} (touches nothing)`;
  const shown = effects.slice(0, 4).map(describeEffect);
  const more = effects.length > shown.length ? `, and ${effects.length - shown.length} more` : '';
  return `${toolName}: ${shown.join(', ')}${more}`;
}

function describeEffect(effect: Effect): string {
  switch (effect.kind) {
    case 'read':
    case 'write':
    case 'delete':
      return `${effect.kind} ${effect.path}`;
    case 'run':
      return `run ${effect.command}`;
    case 'fetch':
      return `fetch ${effect.url}`;
    case 'ask':
      return 'ask you';
    case 'unknown':
      return 'effects not known in advance';
  }
}
