import type { PlannedCall } from '../../contract/approval.js';
import type { ObservedQuestion, PolicyQuestion } from '../../contract/policy.js';
import { createExecutor } from '../../executor/create-executor.js';
import { createAnalyzingPolicy } from '../../policy/create-analyzing-policy.js';
import type { RulePolicy } from '../../policy/create-policy.js';
import type { Explanation } from '../../policy/explain/explain-decision.js';
import { readCalls } from '../../protocols/read-calls.js';
import type { PolicyOptions } from '../define/define-policy.js';
import type { ExitCode } from '../exit-code.js';
import { readSource } from '../input/read-source.js';
import { settlePlanning } from '../settle-planning.js';
import { describeExplanation } from '../show/describe-explanation.js';
import { createPalette } from '../show/palette.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';
import { UsageError } from '../usage-error.js';

/** A call's place in the plan, and how the policy came to it; undefined where something else had decided before. */
export interface ExplainedCall {
  readonly call: PlannedCall;
  readonly explanation: Explanation | undefined;
}

/** `toolexec policy explain CALL`: what would happen to it, and why. Touches nothing. @throws UsageError */
export async function explainCalls(
  source: string,
  options: PolicyOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdio, env } = surroundings;
  const { executor: settings } = settlePlanning(options, surroundings);
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
    await using executor = createExecutor({
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

/** A name alone was judged where the question holds no more; there are no rules about that. */
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
