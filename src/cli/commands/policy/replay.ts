import type { PlannedCall } from '../../../contract/approval.js';
import { type ErrorCode, isErrorCode } from '../../../errors/catalogue.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../../journal/redaction/left-out.js';
import { sanitize } from '../../../output/sanitize.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { openExecutor } from '../../open-executor.js';
import { resolvePlanning } from '../../resolve-settings.js';
import {
  addRecordedCallsOptions,
  type RecordedCall,
  type RecordedCallsOptions,
  readRecordedCalls,
} from './recorded-calls.js';

export const define: DefineCommand = (command, context, finish) => {
  addRecordedCallsOptions(command)
    .description(
      'Evaluates the calls of a journal, its export, or of a response of a model, and shows those that would be decided ' +
        'otherwise than they were. Touches nothing.',
    )
    .addHelpText(
      'before',
      `Examples:
  toolexec policy replay
  toolexec policy replay calls.jsonl
  toolexec journal export | toolexec policy replay - --config stricter.toml
`,
    )
    .action(async (file: string | undefined, options: RecordedCallsOptions) => {
      finish(await replayCalls(file, options, context));
    });
};

/** What was, or would be, done with a call. */
type Outcome = 'runs' | 'asks' | 'refused' | 'not known';

interface Replayed {
  readonly planned: PlannedCall;
  readonly was: Outcome;
  readonly now: Outcome;
  readonly changed: boolean;
}

/**
 * `toolexec policy replay [FILE]`: recorded calls, evaluated as the configuration stands now, and what would be done with
 * them otherwise. Touches nothing. @throws UsageError, ToolError `config_invalid`
 */
export async function replayCalls(
  source: string | undefined,
  options: RecordedCallsOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  const { executor: settings } = resolvePlanning(options, context);
  const recorded = await readRecordedCalls(source, options, context);
  await using executor = await openExecutor(settings);
  const replayed: Replayed[] = [];
  const leftOut = recorded.filter(({ call }) => hasLeftOut(call.args));
  // One after the other: what holds for a batch (its size, ids that stand twice) is not asked about.
  for (const one of recorded) {
    if (leftOut.includes(one)) continue;
    const [planned] = (await executor.plan([one.call])).calls;
    if (planned !== undefined) replayed.push(compare(one, planned));
  }
  if (options.json === true) writeJson(stdio.stdout, [...replayed.map(toJson), ...leftOut.map(notEvaluated)]);
  else stdio.stdout.write(describe(replayed) + describeLeftOut(leftOut.length));
  return 0;
}

function compare(recorded: RecordedCall, planned: PlannedCall): Replayed {
  const was = outcomeThen(recorded);
  const now = outcomeNow(planned);
  // A call that ran and left no decision may have been asked about before.
  const isSame =
    was === now || was === 'not known' || (recorded.disposition === undefined && mayBoth(was, now));
  return { planned, was, now, changed: !isSame };
}

function mayBoth(was: Outcome, now: Outcome): boolean {
  return was !== 'refused' && now !== 'refused';
}

function outcomeThen({ disposition, succeeded, code }: RecordedCall): Outcome {
  if (disposition === 'execute_now') return 'runs';
  if (disposition === 'requires_confirmation') return 'asks';
  if (disposition === 'pre_resolved' || (isErrorCode(code) && REFUSALS.has(code))) return 'refused';
  if (code === 'user_denied' || code === 'approval_unavailable') return 'asks';
  return succeeded ? 'runs' : 'not known';
}

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'policy_disabled',
  'denylisted',
  'policy_denied',
  'sandbox_violation',
  'security_violation',
]);

function outcomeNow({ disposition }: PlannedCall): Outcome {
  if (disposition === 'pre_resolved') return 'refused';
  return disposition === 'execute_now' ? 'runs' : 'asks';
}

function toJson({ planned, was, now, changed }: Replayed): unknown {
  const { callId, toolName, disposition, reason, effects, result } = planned;
  const code = result?.error?.code ?? null;
  return {
    callId,
    toolName,
    was: was === 'not known' ? null : was,
    now,
    changed,
    disposition,
    code,
    reason,
    effects,
  };
}

/** A rule may look at what is not there. */
function notEvaluated(recorded: RecordedCall): unknown {
  const { id, name } = recorded.call;
  const was = outcomeThen(recorded);
  return {
    callId: id,
    toolName: name,
    was: was === 'not known' ? null : was,
    now: null,
    changed: false,
    disposition: null,
    code: null,
    reason: LEFT_OUT_OF_JOURNAL,
    effects: [],
  };
}

function describeLeftOut(count: number): string {
  return count === 0 ? '' : `${count} not evaluated: ${LEFT_OUT_OF_JOURNAL}\n`;
}

function describe(replayed: readonly Replayed[]): string {
  const known = replayed.filter(({ was }) => was !== 'not known');
  // Without a record there is nothing to compare with: then each is told.
  const told = known.length === 0 ? replayed : replayed.filter(({ changed }) => changed);
  const lines = told.map(({ planned, was, now }) => {
    const change = was === 'not known' ? now : `${was} → ${now}`;
    return `${change}  ${planned.toolName} ${planned.callId}: ${planned.reason}`;
  });
  const changes = replayed.filter(({ changed }) => changed).length;
  const end = `${replayed.length} calls, ${known.length === 0 ? 'of which nothing is recorded' : `${changes} decided otherwise`}`;
  return [...lines, end].map((line) => `${sanitize(line, 'inline')}\n`).join('');
}
