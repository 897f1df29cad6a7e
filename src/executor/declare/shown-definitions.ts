import type { Executor } from '../../contract/executor.js';
import type { Policy } from '../../contract/policy.js';
import type { Registry, ToolDefinition } from '../../contract/tool.js';
import type { ExecutorSettings } from '../call/settings.js';

/**
 * The tool definitions for a model: none in mode `disabled`; in `parse_only`, those of the configuration, if
 * it has any (D114); otherwise those of the registry. Tools that the policy always refuses are left out,
 * because a model would only try them in vain.
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

interface Shown {
  readonly registry: Registry;
  /** The definitions without the executor's public method, which copies them. */
  readonly read: () => readonly ToolDefinition[];
}

const shownBy = new WeakMap<Executor, Shown>();

/** Registers an executor with the function that gives the definitions it shows of its registry. */
export function showsDefinitions(executor: Executor, registry: Registry, read: Shown['read']): void {
  shownBy.set(executor, { registry, read });
}

/**
 * Calls back after tools of an executor were added, removed or changed, also by a source of tools that reports changes.
 * @returns the function that removes the callback
 */
export function followDefinitions(executor: Executor, listener: () => void): () => void {
  return shownBy.get(executor)?.registry.onChange?.(listener) ?? (() => {});
}

/**
 * The definitions that an executor shows, for readers that do not modify them: the same frozen objects until a tool
 * changes. An executor that a program has wrapped gives copies.
 */
export function readDefinitions(executor: Executor): readonly ToolDefinition[] {
  return shownBy.get(executor)?.read() ?? executor.definitions();
}

/** The reason why a source of an executor's tools hides a tool. Undefined: there is no such tool. */
export function whyMissing(executor: Executor, name: string): string | undefined {
  return shownBy.get(executor)?.registry.whyMissing?.(name)?.message;
}

function refuses(policy: Policy, name: string, aliases: readonly string[]): boolean {
  try {
    if (policy.refuses !== undefined) return policy.refuses(name, aliases) === true;
    return policy.screen?.(name, aliases)?.disposition === 'pre_resolved';
  } catch {
    // A policy that throws would refuse the call too.
    return true;
  }
}
