import { CONFIG_KEYS } from '../../config/config-keys.js';
import type { ToolResult } from '../../contract/call.js';

/**
 * Library messages name options by their path in `createExecutor`'s options; these have another name in the
 * command, or none.
 */
const PHRASES: readonly (readonly [library: string, command: string])[] = [
  [', or give the option apiKey', ''],
  [': use the option headers', ''],
  [' (timeoutMs)', ''],
  ['options.root', '--root'],
  ['options.again', '--again'],
  ['Give options.asker.', 'Run the command at a terminal.'],
  ['Give options.agents, or run the calls in a loop.', 'Use toolexec chat: there are sub-agents there.'],
  [', or as hardLinks of the root', ''],
  [', in a program with executor.approve()', ''],
  [', in a program with executor.decide()', ''],
  [', or decide()', ''],
  ['approve() it, with an approver that agrees or one that denies.', 'toolexec approve.'],
  [
    'Give an approver, or allow it by a rule.',
    'Answer it at a terminal or with --yes, or allow it by a rule.',
  ],
];

/** Rewrites a library message for the command: options by their keys in `toolexec.toml`, or as `--…`. */
export function asTyped(message: string): string {
  const phrased = PHRASES.reduce((text, [library, command]) => text.replaceAll(library, command), message);
  return phrased.replaceAll(OPTION_PATH, (path) => KEYS.get(path.replace(/^options\./, '')) ?? path);
}

/** A result with its hint rewritten for the command. */
export function resultAsTyped(result: ToolResult): ToolResult {
  if (result.success || result.error.hint === undefined) return result;
  return { ...result, error: { ...result.error, hint: asTyped(result.error.hint) } };
}

const OPTION_PATH = /\b[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+\b/g;

/** `limits.maxToolCallsPerBatch` is `tools.max_tool_calls_per_batch`. */
const KEYS: ReadonlyMap<string, string> = new Map(
  Object.entries(CONFIG_KEYS).map(([key, { option }]) => [option.replace(/^executor\./, ''), key]),
);
