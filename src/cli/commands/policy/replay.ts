import type { PlannedCall } from '../../../contract/approval.js';
import type { PolicyAnswer } from '../../../contract/policy.js';
import { type ErrorCode, isErrorCode } from '../../../errors/catalogue.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../../journal/redaction/left-out.js';
import { sanitize } from '../../../output/sanitize.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { LaterPlace } from '../../later-place.js';
import { openExecutor } from '../../open-executor.js';
import { informedPolicy } from '../../recorded-origins.js';
import { resolvePlanning } from '../../resolve-planning.js';
import { type AskedAfter, askedAfter, NOT_ASKED_AFTER } from './asked-after.js';
import {
  addRecordedCallsOptions,
  type RecordedCall,
  type RecordedCallsOptions,
  readRecordedCalls,
} from './recorded-calls.js';
import { SeenByThen } from './seen-by-then.js';

export const define: DefineCommand = (command, context, finish) => {
  addRecordedCallsOptions(command)
    .description(
      'Evaluates the calls of a journal, its export, or a model response, and shows those that would be decided ' +
        'differently now, given what the conversation had seen by then, and those whose recorded changes would be asked about when the command has ended. Touches ' +
        'nothing.',
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

type Settings = ReturnType<typeof resolvePlanning>['executor'];

/** The actual or predicted outcome of a call. */
type Outcome = 'runs' | 'asks' | 'asks after' | 'refused' | 'not known';

interface Replayed {
  readonly planned: PlannedCall;
  readonly was: Outcome;
  readonly now: Outcome;
  readonly changed: boolean;
  /** After its command has ended. */
  readonly after: AskedAfter;
}

/**
 * `toolexec policy replay [FILE]`: evaluates recorded calls with the current configuration, and shows the
 * differences. Touches nothing. @throws UsageError, ToolError `config_invalid`
 */
export async function replayCalls(
  source: string | undefined,
  options: RecordedCallsOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  const { executor: settings } = resolvePlanning(options, context);
  const recorded = await readRecordedCalls(source, options, context);
  let answer: PolicyAnswer | undefined;
  const origins = new SeenByThen();
  let conversation = '';
  const policy = informedPolicy(createAnalyzingPolicy(settings.policy), (args) =>
    origins.of(conversation, args),
  );
  await using executor = await openExecutor({
    ...settings,
    policy,
    onDecision: (_, given) => {
      answer = given;
    },
  });
  const place = new LaterPlace(settings);
  const replayed: Replayed[] = [];
  const leftOut = recorded.filter(({ call }) => hasLeftOut(call.args));
  // One at a time, because limits of a batch (its size, duplicate ids) do not apply.
  for (const one of recorded) {
    origins.reach(one);
    if (leftOut.includes(one)) continue;
    answer = undefined;
    conversation = one.conversation;
    const [planned] = (await executor.plan([one.call])).calls;
    if (planned === undefined) continue;
    const late = askingAfter(one, planned, answer, settings);
    const after = late ?? (await beyondAllowed(one, planned, answer, place, settings));
    replayed.push(compare(one, planned, after, late !== undefined));
  }
  if (options.json === true) writeJson(stdio.stdout, [...replayed.map(toJson), ...leftOut.map(notEvaluated)]);
  else stdio.stdout.write(describe(replayed) + describeLeftOut(leftOut.length));
  return 0;
}

/** @param isLate it is not asked about before it runs */
function compare(recorded: RecordedCall, planned: PlannedCall, after: AskedAfter, isLate: boolean): Replayed {
  const was = outcomeThen(recorded);
  const before = isLate ? 'runs' : outcomeNow(planned);
  const now = before === 'runs' && after.surely.length > 0 ? 'asks after' : before;
  // A call that ran without a recorded decision may have been asked about.
  const isSame =
    was === now || was === 'not known' || (recorded.disposition === undefined && mayBoth(was, now));
  return { planned, was, now, changed: !isSame, after };
}

/**
 * For a tool that asks after its command has ended (`approval = "after"`): all its changes. Undefined for
 * other tools.
 */
function askingAfter(
  { changes }: RecordedCall,
  { toolName, disposition, effects }: PlannedCall,
  answer: PolicyAnswer | undefined,
  { builtins }: Settings,
): AskedAfter | undefined {
  const isLate =
    toolName === 'bash' && builtins?.bash?.approval === 'after' && disposition === 'requires_confirmation';
  if (!isLate || changes === undefined || answer?.rule !== undefined) return undefined;
  if (effects.some(({ kind }) => kind === 'delete')) return undefined;
  return { surely: [...changes.created, ...changes.modified, ...changes.deleted], perhaps: [] };
}

/**
 * The changes of a command beyond the current permission of its call. A call that is asked about counts as
 * approved.
 */
async function beyondAllowed(
  { changes }: RecordedCall,
  { disposition, effects }: PlannedCall,
  answer: PolicyAnswer | undefined,
  place: LaterPlace,
  { policy }: Settings,
): Promise<AskedAfter> {
  const isUnseen = changes === undefined || answer?.writesThrough === true;
  if (isUnseen || disposition === 'pre_resolved') return NOT_ASKED_AFTER;
  const agreed = disposition === 'requires_confirmation' ? effects : undefined;
  return askedAfter(changes, { consent: answer?.consent, agreed }, place, policy);
}

function mayBoth(was: Outcome, now: Outcome): boolean {
  return was !== 'refused' && now !== 'refused';
}

function outcomeThen({ disposition, succeeded, code, changes }: RecordedCall): Outcome {
  if (disposition === 'execute_now' && (changes?.unexpected ?? []).length > 0) return 'asks after';
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

function toJson({ planned, was, now, changed, after }: Replayed): unknown {
  const { callId, toolName, disposition, reason, effects, result } = planned;
  const code = result?.error?.code ?? null;
  return {
    callId,
    toolName,
    was: was === 'not known' ? null : was,
    now,
    changed,
    askedAfter: after.surely,
    perhapsAskedAfter: after.perhaps,
    disposition,
    code,
    reason,
    effects,
  };
}

/** A rule may need data that is not recorded. */
function notEvaluated(recorded: RecordedCall): unknown {
  const { id, name } = recorded.call;
  const was = outcomeThen(recorded);
  return {
    callId: id,
    toolName: name,
    was: was === 'not known' ? null : was,
    now: null,
    changed: false,
    askedAfter: [],
    perhapsAskedAfter: [],
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
  // Without a record there is nothing to compare, so every call is shown.
  const told = known.length === 0 ? replayed : replayed.filter(isTold);
  const changes = replayed.filter(({ changed }) => changed).length;
  const calls = replayed.length === 1 ? 'call' : 'calls';
  const end = `${replayed.length} ${calls}, ${known.length === 0 ? 'of which nothing is recorded' : `${changes} decided otherwise`}`;
  return [...told.flatMap(describeOne), end, countAsked(replayed)]
    .map((line) => `${sanitize(line, 'inline')}\n`)
    .join('');
}

function isTold({ changed, after: { surely, perhaps } }: Replayed): boolean {
  return changed || surely.length + perhaps.length > 0;
}

function describeOne({ planned, was, now, after }: Replayed): readonly string[] {
  const name = `${planned.toolName} ${planned.callId}`;
  const change = was === 'not known' || was === now ? now : `${was} → ${now}`;
  const [surely, perhaps] = [after.surely, after.perhaps].map(listed) as [string, string];
  return [
    `${change}  ${name}: ${now === 'asks after' ? `it changed ${surely}` : whyNow(planned, now)}`,
    ...(surely === '' || now === 'asks after' ? [] : [`and asks after  ${name}: it changed ${surely}`]),
    ...(perhaps === '' ? [] : [`may ask after  ${name}: it changed ${perhaps}, of which only a part runs`]),
  ];
}

function whyNow({ disposition, reason }: PlannedCall, now: Outcome): string {
  return now === 'runs' && disposition !== 'execute_now' ? 'it changed nothing' : reason;
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, MOST_TOLD).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return `${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

const MOST_TOLD = 5;

function countAsked(replayed: readonly Replayed[]): string {
  const before = replayed.filter(({ now }) => now === 'asks').length;
  const after = replayed.filter(({ after: { surely } }) => surely.length > 0).length;
  const perhaps = replayed.filter(
    ({ after: { surely, perhaps: may } }) => surely.length === 0 && may.length > 0,
  );
  const more = perhaps.length === 0 ? '' : `, and perhaps ${perhaps.length} more`;
  return `asked about: ${before} before they run, ${after} by what they changed${more}`;
}
