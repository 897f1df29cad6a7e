import {
  checkOptions,
  isFilledText,
  isFunction,
  isTextList,
  type OptionRules,
  option,
} from '../../base/normalize-options.js';
import type { NarrowOptions } from '../../contract/agent-runner.js';
import type { RunOptions } from '../../contract/executor.js';
import type { Policy } from '../../contract/policy.js';
import type { Registry, Tool } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ExecutorSettings } from '../call/settings.js';
import { unknownTool } from './registry.js';

/** The error for a call of a tool that was left out. Undefined: such a tool is unknown. */
type WhyLeftOut = (tool: Tool) => ToolError | undefined;

/**
 * The settings for a sub-agent. A sub-agent can never do more than its parent: it has no additional tools,
 * and each refusal of the policy for the parent also applies to the sub-agent.
 * @throws ToolError `unknown_tool`; `config_invalid` for an invalid option
 */
export function narrowSettings(
  settings: ExecutorSettings,
  options: NarrowOptions,
  whyLeftOut?: WhyLeftOut,
): ExecutorSettings {
  checkOptions('options', options, RULES);
  const { tools, agent, agents } = options;
  const named = agent === undefined ? settings : { ...settings, agent, policy: heirOf(settings) };
  const registry =
    tools === undefined ? settings.registry : new RegistryPart(settings.registry, tools, whyLeftOut);
  const asked =
    options.approver === undefined ? {} : { approver: options.approver, lateApprover: options.approver };
  return { ...named, ...asked, registry, agents: settings.agents ?? agents };
}

const RULES: OptionRules<{ [K in keyof NarrowOptions]-?: NarrowOptions[K] | undefined }> = {
  tools: option(undefined, isTextList, 'a list of names'),
  agent: option(undefined, isFilledText, 'a text that is not empty'),
  approver: option(undefined, (value) => value === null || isFunction(value), 'a function or null'),
  agents: option(undefined, isFunction, 'a function that runs sub-agents'),
};

/** The settings with the options of one run applied. */
export function withRunOptions(
  settings: ExecutorSettings,
  { agent, approver, whileRunning }: RunOptions,
): ExecutorSettings {
  if (agent === undefined && approver === undefined && whileRunning === undefined) return settings;
  const named = agent === undefined ? settings : { ...settings, agent };
  const asked = approver === undefined ? named : { ...named, approver, lateApprover: approver };
  if (whileRunning === undefined) return asked;
  // The executor's own approver and asker take precedence, because the approver of a run may answer only one
  // question.
  const { lateApprover = whileRunning.approver, asker = whileRunning.asker } = settings;
  return { ...asked, lateApprover, asker };
}

/**
 * A policy for a sub-agent: it refuses every call that the parent's policy refuses; otherwise the same policy
 * decides for the sub-agent.
 */
function heirOf({ policy, agent: parent }: ExecutorSettings): Policy | null {
  if (policy === null) return null;
  const { screen, refuses, searchesOrigins = true } = policy;
  return {
    searchesOrigins,
    decide(question) {
      const { agent: _, ...ofParent } = question;
      const answer = policy.decide(parent === undefined ? ofParent : { ...ofParent, agent: parent });
      return answer.disposition === 'pre_resolved' ? answer : policy.decide(question);
    },
    ...(screen === undefined ? {} : { screen: screen.bind(policy) }),
    ...(refuses === undefined ? {} : { refuses: refuses.bind(policy) }),
  };
}

/** A subset of a registry's tools. It follows changes of the whole registry. */
class RegistryPart implements Registry {
  readonly #whole: Registry;
  readonly #names: ReadonlySet<string>;
  readonly #whyLeftOut: WhyLeftOut | undefined;

  constructor(whole: Registry, names: readonly string[], whyLeftOut: WhyLeftOut | undefined) {
    this.#whole = whole;
    this.#whyLeftOut = whyLeftOut;
    this.#names = new Set(names.map((name) => whole.get(name).name));
  }

  get revision(): number {
    return this.#whole.revision;
  }

  register(tool: Tool): void {
    throw new ToolError(
      'config_invalid',
      `Cannot register tool "${tool.name}": this is a part of a registry.`,
    );
  }

  find(name: string): Tool | undefined {
    const tool = this.#whole.find(name);
    return tool !== undefined && this.#names.has(tool.name) ? tool : undefined;
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  get(name: string): Tool {
    const tool = this.find(name);
    if (tool === undefined) throw unknownTool(name, this.list());
    return tool;
  }

  whyMissing(name: string): ToolError | undefined {
    if (this.#names.has(name)) return this.#whole.whyMissing?.(name);
    const tool = this.#whole.find(name);
    return tool && this.#whyLeftOut?.(tool);
  }

  onChange(listener: () => void): () => void {
    return this.#whole.onChange?.(listener) ?? (() => {});
  }

  list(): readonly Tool[] {
    return this.#whole.list().filter(({ name }) => this.#names.has(name));
  }

  definitions(): ReturnType<Registry['definitions']> {
    return this.#whole.definitions().filter(({ name }) => this.#names.has(name));
  }
}
