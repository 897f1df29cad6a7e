import type { Policy } from '../../contract/policy.js';
import type { ToolDefinition } from '../../contract/tool.js';
import type { ExecutorSettings } from '../call/settings.js';

/**
 * The definitions that a model is shown: nothing in mode `disabled`, those of the configuration in `parse_only` where
 * there are any (D114), else those of the registry, without the tools that the policy refuses whatever the
 * arguments: a model would only try in vain.
 */
export function shownDefinitions(
  { mode, registry, policy }: ExecutorSettings,
  configured: readonly ToolDefinition[],
): readonly ToolDefinition[] {
  if (mode === 'disabled') return [];
  if (mode === 'parse_only' && configured.length > 0) return configured;
  const all = registry.definitions();
  if (policy === null) return all;
  const shown = all.filter(({ name }) => !refuses(policy, name, registry.find(name)?.aliases ?? []));
  return shown.length === all.length ? all : Object.freeze(shown);
}

function refuses(policy: Policy, name: string, aliases: readonly string[]): boolean {
  try {
    if (policy.refuses !== undefined) return policy.refuses(name, aliases) === true;
    return policy.screen?.(name, aliases)?.disposition === 'pre_resolved';
  } catch {
    // A policy that fails refuses the call as well.
    return true;
  }
}
