import type { CallRecord, JournalNote } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { Tool } from '../../contract/tool.js';
import { parseEffects } from '../../effects/parse-effects.js';
import { compiledTool } from '../declare/compiled-tool.js';
import { recordedCall } from '../hold-calls.js';
import { holdFast } from '../plan/hold-fast.js';
import { ReadyCall } from '../plan/judged-call.js';
import { placeEffects } from '../plan/place-effects.js';
import type { EngineSettings } from '../settings.js';

/**
 * A recorded call as its tool would see it again, with the arguments that were approved. Undefined where the tool is
 * not there any more, or does not know these arguments any more.
 */
export async function reviveCall(
  record: CallRecord,
  notes: readonly JournalNote[],
  settings: EngineSettings,
): Promise<ReadyCall | undefined> {
  const tool = settings.registry.find(record.toolName);
  if (tool === undefined) return undefined;
  const args = approvedArguments(notes) ?? record.args;
  try {
    const checked = await compiledTool(tool).input.check(args);
    if (!checked.ok) return undefined;
    const parsed = holdFast(checked.value);
    const declared = declare(tool, parsed, settings);
    const { effects } = placeEffects(declared, settings);
    return new ReadyCall({
      call: { ...recordedCall(record), args },
      tool,
      parsed,
      declared,
      effects,
      risk: 'high',
      needsApproval: false,
      toolRequiresApproval: false,
      reason: record.reason,
    });
  } catch {
    return undefined;
  }
}

/** A person may have changed them. */
function approvedArguments(notes: readonly JournalNote[]): JsonObject | undefined {
  const approval = notes.findLast(({ kind, data }) => kind === 'approval' && data.approved === true);
  const args = approval?.data.args;
  return isJsonObject(args) ? args : undefined;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function declare(tool: Tool, parsed: unknown, { sandbox, limits }: EngineSettings): ReadyCall['declared'] {
  if (tool.effects === undefined) return parseEffects([{ kind: 'unknown' }]);
  return parseEffects(tool.effects(parsed, { cwd: sandbox.cwd, limits }));
}
