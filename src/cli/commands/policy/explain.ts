import type { PlannedCall } from '../../../contract/approval.js';
import type { ObservedQuestion, PolicyQuestion } from '../../../contract/policy.js';
import { sanitize } from '../../../output/sanitize.js';
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
import { readSource } from '../../read-input.js';
import { resolvePlanning } from '../../resolve-settings.js';

/** The options of the `policy` commands, in commander's form. */
interface PolicyOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .argument('<call>', 'one {"name","args"}, an array of them, or - for standard input')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy explain '{"name":"read_file","args":{"path":".env"}}'
  toolexec policy explain - --json < response.json
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
}

/**
 * `toolexec policy explain CALL`: what would happen to a call, and why. Touches nothing. @throws UsageError
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
  const explained: ExplainedCall[] = [];
  for (const call of calls) {
    let asked: ObservedQuestion | undefined;
    await using executor = await openExecutor({
      ...settings,
      policy,
      onDecision: (question) => {
        asked = question;
      },
    });
    const { calls: planned } = await executor.plan([call]);
    for (const one of planned) explained.push({ call: one, explanation: explain(policy, asked) });
  }
  if (options.json === true) writeJson(stdio.stdout, explained.map(toJson));
  else {
    const palette = createPalette(stdio.stdout.isTerminal, env);
    stdio.stdout.write(explained.map((one) => describeExplanation(one, palette)).join('\n'));
  }
  return 0;
}

/** The question holds only a name, so rules about anything else cannot match. */
function explain(policy: RulePolicy, question: ObservedQuestion | undefined): Explanation | undefined {
  return question !== undefined && isWhole(question) ? policy.explain(question) : undefined;
}

function isWhole(question: ObservedQuestion): question is PolicyQuestion {
  return question.sideEffecting !== undefined && question.requiresApproval !== undefined;
}

function toJson({ call, explanation }: ExplainedCall): unknown {
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
  };
}

/** A call's plan, then the result of every rule. */
function describeExplanation({ call, explanation }: ExplainedCall, palette: Palette): string {
  const plan = describePlan({ calls: [call] }, palette);
  if (explanation === undefined) return `${plan}  rules    not asked: this was decided before\n`;
  if (explanation.candidates.length === 0) return `${plan}  rules    there are none\n`;
  const lines = explanation.candidates.map(({ rule, status, outcome }) => {
    const mark = status === 'decided' ? palette.bold('▸') : ' ';
    return `${mark} ${sanitize(`${rule.place}: ${rule.label}: ${outcome}`, 'inline')}\n`;
  });
  return `${plan}${lines.join('')}`;
}
