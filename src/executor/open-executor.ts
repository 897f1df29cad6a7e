import { covers } from '../base/covers.js';
import { normalizeOptions } from '../base/normalize-options.js';
import { commandEnvironment } from '../commands/command-environment.js';
import { openOutputStore } from '../commands/open-output-store.js';
import { type EnvironmentOptions, removedValues } from '../commands/sanitize-environment.js';
import type { Clock, Logger } from '../contract/context.js';
import type { ToolSource } from '../contract/external.js';
import type { Sandbox } from '../contract/files.js';
import type { Journal } from '../contract/journal.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { toolHooks } from '../hooks/tool-hooks.js';
import { leftOutValues, nameTools } from '../journal/redaction/redacting-journal.js';
import { createByteRedactor } from '../output/create-redactor.js';
import { systemClock } from '../platform/clock/clock.js';
import { TimeLimits } from '../platform/clock/time-limits.js';
import { realPlace } from '../platform/fs/probe-place.js';
import {
  isProcessAlive,
  isWorkerAlive,
  isWorkerAncestor,
  isWorkerVisible,
  mayBeAlive,
} from '../platform/process/is-worker-alive.js';
import { homeDirectory, readEnvironment } from '../platform/runtime/environment.js';
import { onUnhandledError } from '../platform/runtime/unhandled-errors.js';
import type { BuiltinToolsOptions } from './builtin-tools.js';
import { CACHE_RULES, LruResultCache } from './cache/create-result-cache.js';
import type { ExecutorSettings } from './call/settings.js';
import {
  type CommandContext,
  lazyCommands,
  lazyPorts,
  lazyPreviews,
  lazySearch,
  lazyShells,
} from './commands-on-first-use.js';
import { createLiveRegistry } from './declare/live-registry.js';
import { createRegistry } from './declare/registry.js';
import { ToolExecutor } from './executor.js';
import {
  COMMAND_LIMIT_RULES,
  checkExecutorOptions,
  type ExecutorOptions,
  FLEET_RULES,
  isToolSource,
} from './executor-options.js';
import { journalFor } from './journal-for.js';
import { outputsBeside } from './journal-place.js';
import { sessionOf } from './journal-session.js';
import { planningParts } from './planning-parts.js';
import { hostQuotas } from './quota-options.js';

/** The tools of an executor whose options name no tools. */
export interface DefaultTools {
  create(options: BuiltinToolsOptions, clock: Clock): readonly Tool[];
  /** The same tools plus `task`. */
  withTask(registry: Registry, clock: Clock): Registry;
}

export interface OpenedExecutor {
  readonly executor: ToolExecutor;
  readonly settings: Omit<ExecutorSettings, 'partOf'>;
}

/**
 * The executor with its settings, for parts of toolexec that use it in a worker. Loads no tool.
 * @throws as `createExecutor`
 */
export function openExecutor(
  options: ExecutorOptions,
  defaults: DefaultTools = { create: () => [], withTask: (registry) => registry },
): OpenedExecutor {
  checkExecutorOptions(options);
  const parts = planningParts(options, (_, logger) => registryOf(options, defaults, logger));
  const { registry, sandbox, clock, logger } = parts.settings;
  const { confinement, rules, seenFrom, exposePorts } = parts.reach;
  const { environment } = parts;
  const secretValues = parts.secretValues();
  const around: CommandContext = {
    confinement,
    limits: normalizeOptions('commandLimits', options.commandLimits, COMMAND_LIMIT_RULES),
  };
  const commands = lazyCommands(around, options.journal === undefined || options.journal === false);
  const previews = lazyPreviews({ ...around, rules, seenFrom });
  const shells = lazyShells(around);
  const home = realPlace(homeDirectory());
  if (confinement.roots.some((root) => covers(root, home)))
    logger.warn({ roots: confinement.roots }, 'a root holds the home directory: choose one further down');
  const journal = journalFor(options.journal, logger);
  nameTools(journal.journal, (called) => {
    const tool = registry.find(called);
    return tool === undefined ? [] : [tool.name, ...(tool.aliases ?? [])];
  });
  const outputs = openOutputStore({
    ...outputsBeside(options.journal),
    hide: () => createByteRedactor([...secretValues, ...leftOutValues(journal.journal)]),
  });
  const hooks = toolHooks(options.hooks ?? {}, {
    cwd: sandbox.cwd,
    onFailure: (event, problem) => logger.warn({ event, problem }, 'a hook failed'),
    environment: readEnvironment,
    namesOf(name) {
      const tool = registry.find(name);
      return tool === undefined ? [name] : [tool.name, ...tool.aliases];
    },
  });
  const settings: Omit<ExecutorSettings, 'partOf'> = {
    ...parts.settings,
    reviewers: [...(options.reviewers ?? []), ...hooks.reviewers],
    hooks: hooks.events,
    approver: options.approver,
    lateApprover: options.approver,
    asker: options.asker,
    agents: options.agents,
    depth: 0,
    runCommand: commands.run,
    runProgram: commands.runProgram,
    exposePort: lazyPorts(confinement, exposePorts),
    openPreview: previews.open,
    search: lazySearch(sandbox),
    shells,
    outputs,
    commandEnvironment: commandEnvironments(environment, secretValues),
    secretValues,
    middleware: [...(options.middleware ?? []), ...hooks.middleware],
    journal: journal.journal,
    worker: sessionOf(journal.journal).worker,
    ...fleetOf(options, journal.journal, sandbox),
    isWorkerAlive: journal.journal?.spansMachines === true ? mayBeAlive : isWorkerAlive,
    isWorkerAncestor,
    isWorkerVisible,
    isProcessAlive,
    cache: cacheOf(options, clock),
    timeLimits: new TimeLimits(clock),
    onUnhandledError,
    telemetry: options.telemetry,
  };
  const executor = new ToolExecutor(settings, {
    definitions: definitionsOf(options.definitions),
    checkExamples: parts.checkExamples,
    agentTools: options.tools === undefined ? (registry) => defaults.withTask(registry, clock) : undefined,
    owned: [
      hooks.events,
      previews,
      shells,
      commands,
      { close: () => confinement.rooms?.end?.() },
      outputs,
      journal,
    ],
  });
  return { executor, settings };
}

/** Whether a journal is in memory and belongs to the executor, so that no worker can ever see it. */
function isOnlyHere(given: ExecutorOptions['journal']): boolean {
  return given === undefined || (typeof given === 'object' && !('path' in given) && !('accept' in given));
}

/** The workers that run the calls; undefined if this process runs them. @throws ToolError `config_invalid` */
function fleetOf(
  { fleet, root, journal: given }: ExecutorOptions,
  journal: Journal | null,
  { cwd }: Sandbox,
): Pick<ExecutorSettings, 'placement' | 'dispatcher' | 'openQuota'> {
  const options = normalizeOptions('fleet', fleet, FLEET_RULES);
  const { run, labels = [], priority = 0, startDeadlineMs, tenant, dispatcher } = options;
  const { openQuota, running: quotas } = hostQuotas(options.quotas);
  if (run !== 'anywhere') return { placement: undefined, dispatcher: undefined, openQuota: undefined };
  const isPrivate = isOnlyHere(given);
  if (isPrivate || journal?.queued === undefined || journal.cancel === undefined) {
    const problem =
      journal === null
        ? 'journal: false keeps none'
        : isPrivate
          ? 'the one in memory belongs to this executor alone'
          : 'this journal cannot queue calls';
    throw new ToolError(
      'config_invalid',
      `fleet.run "anywhere" needs a journal that workers share, and ${problem}.`,
    );
  }
  if (options.quotas !== undefined && journal.running === undefined) {
    throw new ToolError(
      'config_invalid',
      'fleet.quotas needs a journal that counts the running calls of tenants.',
    );
  }
  const placement = {
    ...(labels.length === 0 ? {} : { labels }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(quotas === undefined ? {} : { quotas }),
    ...(priority === 0 ? {} : { priority }),
    ...(startDeadlineMs === undefined ? {} : { startDeadlineMs }),
    ...(root === undefined ? {} : { root: cwd }),
  };
  return { placement, dispatcher: dispatcher ?? journal.dispatcher, openQuota };
}

function registryOf(
  { tools, builtins = {}, agents, clock = systemClock, external = [] }: ExecutorOptions,
  defaults: DefaultTools,
  logger: Logger,
): Registry {
  const { own, sources } = sortTools(
    tools ?? defaults.create(agents === undefined ? builtins : { ...builtins, agents: true }, clock),
  );
  const all = [...sources, ...[external].flat()];
  if (all.length === 0) return own;
  return createLiveRegistry(own, all, (tool, holder) =>
    logger.warn({ tool: tool.name, holder: holder.name }, 'a tool is left out: its name is taken'),
  );
}

/** Lists are copied immediately; sources are followed. */
function sortTools(given: NonNullable<ExecutorOptions['tools']>): {
  readonly own: Registry;
  readonly sources: readonly ToolSource[];
} {
  if (!isToolList(given)) return { own: given, sources: [] };
  const items: readonly (Tool | readonly Tool[] | ToolSource)[] = given;
  const sources = items.filter((item) => isToolSource(item));
  const own = items.filter((item) => !isToolSource(item)).flat() as Tool[];
  return { own: createRegistry(own), sources };
}

function isToolList(
  tools: NonNullable<ExecutorOptions['tools']>,
): tools is Exclude<NonNullable<ExecutorOptions['tools']>, Registry> {
  return Array.isArray(tools);
}

function definitionsOf(definitions: ExecutorOptions['definitions'] = []): readonly ToolDefinition[] {
  const sorted = definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Object.freeze(sorted.map((definition) => Object.freeze(structuredClone(definition))));
}

function cacheOf({ cache }: ExecutorOptions, clock: Clock): LruResultCache | null {
  if (cache === false) return null;
  return new LruResultCache(normalizeOptions('cache', cache, CACHE_RULES), clock);
}

/**
 * The environment is read again for every command, because the host program may change it at any time, and
 * sanitized again only if it has changed. Newly removed values are added to the values that no output shows.
 */
function commandEnvironments(
  options: EnvironmentOptions,
  secretValues: string[],
): ExecutorSettings['commandEnvironment'] {
  let lastRead: string | undefined;
  let lastReadAt = 0;
  let sanitized: Readonly<Record<string, string>> = {};
  return ({ maxAgeMs = 0, isAttended = false } = {}) => {
    if (isAttended) return commandEnvironment(readEnvironment(), { ...options, isAttended });
    const now = systemClock.monotonic();
    if (lastRead !== undefined && now - lastReadAt < maxAgeMs) return sanitized;
    lastReadAt = now;
    const inherited = readEnvironment();
    const read = JSON.stringify(inherited);
    if (read === lastRead) return sanitized;
    sanitized = Object.freeze(commandEnvironment(inherited, options));
    const removed = removedValues(inherited, sanitized);
    secretValues.push(...removed.filter((value) => !secretValues.includes(value)));
    lastRead = read;
    return sanitized;
  };
}
