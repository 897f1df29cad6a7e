import type { PlannedCall } from '../../../contract/approval.js';
import type { JsonObject } from '../../../contract/json.js';
import type { CallOrigins } from '../../../contract/origin.js';
import type { ObservedQuestion, PolicyQuestion } from '../../../contract/policy.js';
import { sanitize } from '../../../output/sanitize.js';
import { describeOrigins } from '../../../patterns/origin.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import type { RulePolicy } from '../../../policy/create-policy.js';
import type { Explanation } from '../../../policy/explain/explain-decision.js';
import { readCalls } from '../../../providers/read-calls.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { describePlan } from '../../display/describe-call.js';
import type { Palette } from '../../display/terminal-text.js';
import { createPalette, writeJson } from '../../display/terminal-text.js';
import { openExecutor } from '../../open-executor.js';
import { conversationName } from '../../options.js';
import { readSource } from '../../read-input.js';
import { openRecorded, requireJournal } from '../../recorded-journal.js';
import { informedPolicy, readSeen } from '../../recorded-origins.js';
import { resolvePlanning } from '../../resolve-planning.js';

/** The options of the `policy` commands, in commander's form. */
interface PolicyOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
  readonly journal?: string;
  /** The conversation whose results the model has seen. */
  readonly conversation?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .argument('<call>', 'one {"name","args"}, an array of them, or - for standard input')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option(
      '--conversation <id>',
      'evaluate the call as part of this conversation, with the origins that it has seen',
      conversationName,
    )
    .option('--journal <file>', 'the journal of the conversation (default: the one that run would use)')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy explain '{"name":"read_file","args":{"path":".env"}}'
  toolexec policy explain - --json < response.json
  toolexec policy explain '{"name":"web_fetch","args":{"url":"https://a.example"}}' --conversation c1
`,
    )
    .action(async (call: string, options: PolicyOptions) => {
      finish(await explainCalls(call, options, context));
    });
};

/** A call's plan, and the policy's reasoning; undefined if another check decided first. */
export interface ExplainedCall {
  readonly call: PlannedCall;
  readonly explanation: Explanation | undefined;
  /**
   * The origins that may have influenced the call. Undefined: the model has seen nothing, or no conversation
   * was named.
   */
  readonly origins: CallOrigins | undefined;
}

/**
 * `toolexec policy explain CALL`: predicts the decision about a call, with the reasons. Touches nothing.
 * @throws UsageError
 */
export async function explainCalls(
  source: string,
  options: PolicyOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env } = context;
  const { executor: settings } = resolvePlanning(options, context);
  const text = source === '-' ? (await readSource('-', stdio)).text : source;
  const { calls, errors } = readCalls(text);
  const [problem] = errors;
  if (problem !== undefined)
    throw new UsageError(`${problem.message} Write {"name":"bash","args":{"command":"ls"}}.`);
  if (calls.length === 0)
    throw new UsageError('There is no call to explain. Write {"name":"bash","args":{"command":"ls"}}.');
  const policy = createAnalyzingPolicy(settings.policy);
  const originsFor = seenIn(options, context);
  const explained: ExplainedCall[] = [];
  for (const call of calls) {
    let asked: ObservedQuestion | undefined;
    await using executor = await openExecutor({
      ...settings,
      policy: informedPolicy(policy, originsFor),
      onDecision: (question) => {
        asked = question;
      },
    });
    const { calls: planned } = await executor.plan([call]);
    const origins = originsFor(call.args);
    const whole = asked === undefined || origins === undefined ? asked : { ...asked, origins };
    for (const one of planned) explained.push({ call: one, explanation: explain(policy, whole), origins });
  }
  if (options.json === true) writeJson(stdio.stdout, explained.map(toJson));
  else {
    const palette = createPalette(stdio.stdout.isTerminal, env);
    stdio.stdout.write(explained.map((one) => describeExplanation(one, palette)).join('\n'));
  }
  return 0;
}

/**
 * The results that the model of the named conversation has seen. @throws UsageError for a missing journal or
 * conversation
 */
function seenIn(options: PolicyOptions, context: CliContext): (args: JsonObject) => CallOrigins | undefined {
  const { conversation } = options;
  if (conversation === undefined) {
    if (options.journal === undefined) return () => undefined;
    throw new UsageError('--journal says where a conversation is recorded: name it with --conversation.');
  }
  const path = requireJournal(options, context);
  const archive = openRecorded(path, context);
  try {
    if (archive.batches({ conversation, limit: 1 }).length === 0)
      throw new UsageError(`The journal holds no conversation ${JSON.stringify(conversation)}.`);
    const seen = readSeen(archive, conversation);
    return (args) => seen.of(conversation, args);
  } finally {
    archive.close();
  }
}

/** The question holds only a name, so rules about anything else cannot match. */
function explain(policy: RulePolicy, question: ObservedQuestion | undefined): Explanation | undefined {
  return question !== undefined && isWhole(question) ? policy.explain(question) : undefined;
}

function isWhole(question: ObservedQuestion): question is PolicyQuestion {
  return question.sideEffecting !== undefined && question.requiresApproval !== undefined;
}

function toJson({ call, explanation, origins }: ExplainedCall): unknown {
  const { callId, toolName, disposition, reason, effects, result } = call;
  return {
    callId,
    toolName,
    disposition,
    code: result?.error?.code ?? null,
    reason,
    effects,
    rule: explanation?.rule ?? null,
    candidates: explanation?.candidates ?? [],
    ...(origins === undefined ? {} : { origins }),
  };
}

/** A call's plan, then the result of every rule. */
function describeExplanation({ call, explanation, origins }: ExplainedCall, palette: Palette): string {
  const plan = describePlan({ calls: [call] }, palette) + describeChain(origins);
  if (explanation === undefined) return `${plan}  rules    not asked: this was decided before\n`;
  if (explanation.candidates.length === 0) return `${plan}  rules    there are none\n`;
  const lines = explanation.candidates.map(({ rule, status, outcome }) => {
    const mark = status === 'decided' ? palette.bold('▸') : ' ';
    return `${mark} ${sanitize(`${rule.place}: ${rule.label}: ${outcome}`, 'inline')}\n`;
  });
  return `${plan}${lines.join('')}`;
}

/** The origins that the conversation has seen, and the possible origins of each argument. */
function describeChain(origins: CallOrigins | undefined): string {
  if (origins === undefined) return '';
  const pointers = Object.keys(origins.args);
  const lines = [
    `  seen     ${origins.seen.join(', ')}`,
    ...pointers.map((pointer) => `  origin   ${describeOrigins([pointer], origins)}`),
  ];
  return lines.map((text) => `${sanitize(text, 'inline')}\n`).join('');
}
