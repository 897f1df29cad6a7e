import { resolve } from 'node:path';
import type { PlannedCall } from '../contract/approval.js';
import type { Effect } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import type { Policy, PolicyAnswer, PolicyQuestion } from '../contract/policy.js';
import type { Tool } from '../contract/tool.js';
import { isToolError } from '../errors/tool-error.js';
import { createPlanner } from '../executor/create-planner.js';
import { defineTool } from '../executor/declare/define-tool.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { loadOwnTool } from '../executor/load-own-tool.js';
import { createPolicy } from '../policy/create-policy.js';
import { analyzeOnce } from '../policy/shell/analyze-once.js';
import { AGENT_SETTINGS } from './agents.js';
import type { HookDocument } from './document.js';
import type { MappedTool } from './map-tool.js';
import type { NamedFiles } from './named-hidden.js';
import { placedArgs } from './placed-args.js';

/** The configuration's answer about a call. */
export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason: string;
}

export interface CommandVerdict {
  /** The answer if the command runs unchanged. */
  readonly bare: Verdict;
  /** The answer if it runs in a transaction. If absent: it cannot, or must not. */
  readonly contained?: Verdict;
}

/** The facts on which an evaluation depends. */
export interface EvaluationWorld {
  /** From the configuration. */
  readonly options: ExecutorOptions;
  /** Absolute. */
  readonly root: string;
  /** Commands can run in transactions here. */
  readonly canContain: boolean;
}

/** Evaluates a call that is not a command, with the rules for our own calls. */
export async function evaluateCall(
  { tool, cwd }: Pick<HookDocument, 'cwd'> & { readonly tool: { readonly name: string } },
  mapped: Exclude<MappedTool, { readonly kind: 'command' | 'own' }>,
  world: EvaluationWorld,
): Promise<Verdict> {
  if (mapped.kind === 'call') {
    const own = await loadOwnTool(mapped.name, world.options.builtins);
    const args = placedArgs(mapped.name, mapped.args, cwd, world.root);
    const { verdict } = await evaluationOf(own, world).plan(args);
    return withHidden(verdict, { patterns: mapped.named ?? [], directory: String(args.path ?? cwd) }, world);
  }
  const effects = mapped.effects.map((effect) => placed(effect, cwd));
  const declared = otherTool(tool.name, effects);
  const { verdict } = await evaluationOf(declared, world).plan({});
  return withHidden(verdict, { patterns: mapped.named ?? [], directory: cwd }, world);
}

/** The person is asked about a search that would show a hidden file. */
async function withHidden(verdict: Verdict, files: NamedFiles, world: EvaluationWorld): Promise<Verdict> {
  if (verdict.decision !== 'allow' || files.patterns.length === 0) return verdict;
  const { namesHidden } = await import('./named-hidden.js');
  try {
    const reason = namesHidden(files, plannedIn(world));
    return reason === undefined ? verdict : { decision: 'ask', reason };
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    return { decision: 'ask', reason: `its pattern is not understood: ${error.message}` };
  }
}

/** An evaluation starts nothing, because the sandbox is known. No agent changes the settings that guard it. */
function plannedIn({ options, root }: EvaluationWorld) {
  const deniedWritePatterns = [...(options.sandbox?.deniedWritePatterns ?? []), ...AGENT_SETTINGS];
  const sandbox = {
    ...{ ...options.sandbox, deniedWritePatterns },
    ...({ os: 'off', transactions: 'off', allowAbsolute: true } as const),
  };
  return { ...options, root: options.root ?? root, sandbox, journal: false as const };
}

/** Evaluates a command twice: as it is, and in a transaction. */
export async function evaluateCommand(
  line: { readonly command: string; readonly cwd: string },
  world: EvaluationWorld,
): Promise<CommandVerdict> {
  const args = { command: line.command, working_dir: line.cwd };
  const { sandbox = {}, builtins } = world.options;
  const evaluation = evaluationOf(await loadOwnTool('bash', builtins), world);
  const bare =
    sandbox.os === 'required'
      ? {
          decision: 'deny' as const,
          reason: 'commands run in the command sandbox alone (sandbox.os = "required")',
        }
      : (await evaluation.plan(args)).verdict;
  if (!world.canContain || sandbox.os === 'off' || sandbox.transactions === 'off') return { bare };
  const { verdict, answer } = await evaluation.plan(args, { transaction: true });
  return { bare, contained: asksAfter(answer, world.options) ? { ...verdict, ...AFTERWARDS } : verdict };
}

const AFTERWARDS = {
  decision: 'allow',
  reason: 'it runs contained, and is checked when it has ended',
} as const;

/** The configuration asks about such a command when it has ended, not before. */
function asksAfter(
  answer: PolicyAnswer | undefined,
  { profile, builtins, sandbox }: ExecutorOptions,
): boolean {
  if (answer?.disposition !== 'requires_confirmation' || answer.rule !== undefined) return false;
  const isApart = sandbox?.network !== true;
  return isApart && (profile === 'contained' || builtins?.bash?.approval === 'after');
}

interface Planned {
  readonly verdict: Verdict;
  /** The policy's answer; undefined: the policy was not asked. */
  readonly answer: PolicyAnswer | undefined;
}

/** Plans the calls of one tool. */
interface Evaluation {
  readonly plan: (args: JsonObject, seen?: Seen) => Promise<Planned>;
}

type Seen = Pick<PolicyQuestion, 'transaction'>;

function evaluationOf(tool: Tool, world: EvaluationWorld): Evaluation {
  let seen: Seen = {};
  let answer: PolicyAnswer | undefined;
  const { policy, ...rest } = plannedIn(world);
  const planner = createPlanner({
    ...rest,
    tools: [tool],
    policy: watchPolicy(
      policy,
      () => seen,
      (given) => {
        answer = given;
      },
    ),
  });
  return {
    async plan(args, around = {}) {
      seen = around;
      answer = undefined;
      const planned = await planner.plan({ id: 'call', name: tool.name, args });
      return { verdict: toVerdict(planned), answer };
    },
  };
}

/** A policy that gets the facts about the sandbox, and whose answer is recorded. */
function watchPolicy(
  policy: ExecutorOptions['policy'],
  seen: () => Seen,
  tell: (answer: PolicyAnswer) => void,
): NonNullable<ExecutorOptions['policy']> | null {
  if (policy === null) return null;
  const inner: Policy =
    typeof policy === 'function'
      ? { decide: policy }
      : policy !== undefined && 'decide' in policy
        ? policy
        : createPolicy(policy, { analyzeCommand: analyzeOnce });
  return {
    ...(inner.laterCode === undefined ? {} : { laterCode: inner.laterCode }),
    ...(inner.screen === undefined ? {} : { screen: inner.screen.bind(inner) }),
    decide(question) {
      const answer = inner.decide({ ...question, ...seen() });
      tell(answer);
      return answer;
    },
  };
}

function toVerdict({ disposition, reason, result }: PlannedCall): Verdict {
  if (disposition === 'execute_now') return { decision: 'allow', reason };
  if (disposition === 'requires_confirmation') return { decision: 'ask', reason };
  return { decision: 'deny', reason: result?.error?.message ?? reason };
}

/** An agent's tool without a counterpart among ours, under the agent's name. */
function otherTool(name: string, effects: readonly Effect[]): Tool {
  const known = /^[A-Za-z0-9_-]{1,64}$/.test(name)
    ? name
    : name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return defineTool({
    name: known === '' ? '_' : known,
    description: 'A tool of an agent.',
    input: { type: 'object' },
    category: 'external',
    effects: () => effects,
    execute: () => '',
  });
}

function placed(effect: Effect, cwd: string): Effect {
  return 'path' in effect ? { ...effect, path: resolve(cwd, effect.path) } : effect;
}
