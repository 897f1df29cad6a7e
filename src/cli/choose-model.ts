import type { Command } from 'commander';
import type { AgentRunner } from '../contract/agent-runner.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { modelAgents } from '../loop/tool-loop.js';
import { createModel } from '../providers/http/create-model.js';
import type { Model } from '../providers/model.js';
import { HTTP_FORMATS, isHttpFormat } from '../providers/registry.js';
import { UsageError } from './cli-context.js';

/** The model of a command, in commander's form. */
export interface ModelChoice {
  readonly model?: string;
  readonly baseUrl?: string;
}

export function addModelOptions(command: Command, whose: string): Command {
  return command
    .option('--model <provider/name>', `${whose}: ${HTTP_FORMATS.join('/…, ')}/…`)
    .option('--base-url <url>', "another server that speaks the provider's interface");
}

/** @throws UsageError, ToolError `config_invalid` without a key */
export function modelOf(action: string, { model: named, baseUrl }: ModelChoice): Model {
  const known = HTTP_FORMATS.map((provider) => `${provider}/NAME`).join(', ');
  if (named === undefined) throw new UsageError(`Cannot ${action}: name a model with --model (${known}).`);
  const [, provider = '', model = ''] = /^([^/]+)\/(.+)$/.exec(named) ?? [];
  if (!isHttpFormat(provider))
    throw new UsageError(`Cannot use the model "${named}": expected one of ${known}.`);
  return createModel(provider, { model, ...(baseUrl === undefined ? {} : { baseUrl }) });
}

/** For the journal, so that a deferred sub-agent finds its model. An address with a password is left out. */
export function rememberModel({ model, baseUrl }: ModelChoice): JsonObject {
  const isPlain = baseUrl !== undefined && URL.canParse(baseUrl) && !hasCredentials(new URL(baseUrl));
  return {
    ...(model === undefined ? {} : { model }),
    ...(isPlain ? { baseUrl } : {}),
  };
}

function hasCredentials({ username, password, search }: URL): boolean {
  return username !== '' || password !== '' || search !== '';
}

/** Reads what `rememberModel` stored. */
export function rememberedModel(kept: JsonObject | undefined): ModelChoice {
  const { model, baseUrl } = kept ?? {};
  return { ...textAs('model', model), ...textAs('baseUrl', baseUrl) };
}

function textAs(name: keyof ModelChoice, value: JsonValue | undefined): ModelChoice {
  return typeof value === 'string' ? { [name]: value } : {};
}

/** For commands that show or refuse waiting calls: the tool `task` is present but cannot run. */
export const NO_AGENTS: AgentRunner = () => Promise.reject(new Error('no sub-agent runs here'));

export function needsAgents(calls: readonly { readonly toolName: string }[]): boolean {
  return calls.some(({ toolName }) => toolName === 'task');
}

/** Sub-agents with the model named now, or when their batch was deferred. @throws as `modelOf` */
export function agentsOf(action: string, now: ModelChoice, kept: ModelChoice): AgentRunner {
  return modelAgents({ model: modelOf(action, now.model === undefined ? { ...kept, ...now } : now) });
}
