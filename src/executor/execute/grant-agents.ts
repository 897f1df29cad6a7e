import type { AgentTask, ToolAgents } from '../../contract/agents.js';
import type { Approver } from '../../contract/approval.js';
import type { ToolContext } from '../../contract/context.js';
import type { Asker } from '../../contract/question.js';
import type { Tool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { Lease } from '../call/lease.js';
import type { AgentLineage, ExecutorSettings } from '../call/settings.js';
import { narrowSettings } from '../declare/narrow-settings.js';

const DEFAULT_MS = 300_000;
const MOST_MS = 1_800_000;
/** The greatest depth of sub-agents; the conversation itself has depth 0 (C006). */
const DEEPEST = 5;
/** The only tool that starts sub-agents. */
const TASK = 'task';

interface AgentsGrant {
  readonly ready: ReadyCall;
  readonly settings: ExecutorSettings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly emit: ToolContext['emit'];
}

/** Lets one call start sub-agents while the call lives. Undefined: the executor has no sub-agents. */
export function grantAgents(grant: AgentsGrant): ToolAgents | undefined {
  const { settings, lease } = grant;
  if (settings.agents === undefined) return undefined;
  return Object.freeze({
    depth: settings.depth,
    run: (task: AgentTask) => {
      lease.require('start a sub-agent');
      return runAgent(task, grant);
    },
  });
}

async function runAgent(
  task: AgentTask,
  { ready, settings, signal, emit }: AgentsGrant,
): ReturnType<ToolAgents['run']> {
  const depth = settings.depth + 1;
  if (depth > DEEPEST) throw tooDeep();
  const runner = settings.agents;
  if (runner === undefined) throw new Error('a grant of sub-agents has a runner');
  const stop = new AbortController();
  const time = new WorkTime(limitOf(task), settings, () => stop.abort(outOfTime(task)));
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const id = `agent_${settings.createId()}`;
  const executor = settings.partOf({
    ...forAgent(task, depth, settings, time),
    ...{ depth, lineage: lineageOf(ready, task) },
  });
  try {
    const ended = new Promise<never>((_, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason), { once: true });
    });
    stop.signal.throwIfAborted();
    const working = Promise.resolve(runner(task, { id, depth, executor, signal: stop.signal, emit }));
    const reply = await Promise.race([working, ended]);
    return { ...reply, agentId: id };
  } finally {
    time.end();
    signal.removeEventListener('abort', onAbort);
    // After this, the runner can start no more calls.
    await executor.close();
  }
}

/** A sub-agent begins with the text of its prompt, and its answer may repeat all that it has seen. */
function lineageOf(ready: ReadyCall, { prompt: text }: AgentTask): AgentLineage {
  const origin = [...new Set(Object.values(ready.origins?.args ?? {}).flat())];
  const prompt = { callId: ready.call.id, origin, text };
  return { saw: (seen) => ready.carry(seen), ...(origin.length === 0 ? {} : { prompt }) };
}

function tooDeep(): ToolError {
  const message = `max agent depth (${DEEPEST}) exceeded: this agent cannot start another. Do the work yourself.`;
  return new ToolError('limit_exceeded', message, { details: { limit: DEEPEST } });
}

function limitOf({ timeoutMs = DEFAULT_MS }: AgentTask): number {
  return Math.min(timeoutMs, MOST_MS);
}

function outOfTime(task: AgentTask): ToolError {
  const ms = limitOf(task);
  return new ToolError('timeout', `The sub-agent was stopped after ${ms} ms of work.`, {
    details: { timeoutMs: ms },
  });
}

/**
 * The settings for a sub-agent: its parent's, restricted to the tools that the task names. Questions name the
 * sub-agent and pause its time limit.
 */
function forAgent(
  task: AgentTask,
  depth: number,
  settings: ExecutorSettings,
  time: WorkTime,
): ExecutorSettings {
  const all = task.tools ?? settings.registry.list().map(({ name }) => name);
  // An agent at the greatest depth cannot start another, so it does not see the tool.
  const tools = depth < DEEPEST ? all : all.filter((name) => settings.registry.find(name)?.name !== TASK);
  const { lateApprover: approver, asker } = settings;
  const asked = {
    tools,
    agent: task.type,
    ...(approver === undefined
      ? {}
      : { approver: approver === null ? null : time.outside<Approver>(approver) }),
  };
  const whyLeftOut = ({ name }: Tool): ToolError | undefined =>
    name === TASK && depth === DEEPEST ? tooDeep() : undefined;
  return { ...narrowSettings(settings, asked, whyLeftOut), asker: asker && time.outside<Asker>(asker) };
}

/** Measures the working time of a sub-agent. It pauses while the person is asked. */
class WorkTime {
  #leftMs: number;
  readonly #settings: ExecutorSettings;
  readonly #isUp: () => void;
  #startedAt = 0;
  #stopTimer: (() => void) | undefined;
  #questions = 0;
  #isOver = false;

  constructor(limitMs: number, settings: ExecutorSettings, isUp: () => void) {
    this.#leftMs = limitMs;
    this.#settings = settings;
    this.#isUp = isUp;
    this.#go();
  }

  end(): void {
    this.#isOver = true;
    this.#stopTimer?.();
  }

  outside<F extends (...args: never[]) => unknown>(ask: F): F {
    const asking = async (...args: Parameters<F>): Promise<unknown> => {
      this.#stand();
      try {
        return await ask(...args);
      } finally {
        if (--this.#questions === 0 && !this.#isOver) this.#go();
      }
    };
    // The parameters are unchanged, and the result is a promise of the same answer, which every asking
    // function may return.
    return asking as unknown as F;
  }

  #go(): void {
    const { clock } = this.#settings;
    this.#startedAt = clock.monotonic();
    this.#stopTimer = clock.after(Math.max(0, this.#leftMs), this.#isUp);
  }

  #stand(): void {
    if (this.#questions++ > 0) return;
    this.#stopTimer?.();
    this.#leftMs -= this.#settings.clock.monotonic() - this.#startedAt;
  }
}
