import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { settleOptions } from '../base/settle-options.js';
import type { Clock } from '../contract/clock.js';
import type { Executor } from '../contract/executor.js';
import type { Sandbox } from '../contract/files.js';
import type { Journal } from '../contract/journal.js';
import type { Logger } from '../contract/logger.js';
import type { Policy } from '../contract/policy.js';
import type {
  BackgroundShells,
  CommandLimits,
  Confinement,
  GuardedPaths,
  RunCommand,
} from '../contract/processes.js';
import type { SearchEngine } from '../contract/search.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { CACHE_RULES, LruResultCache } from '../engine/cache/create-result-cache.js';
import { createEngine } from '../engine/create-engine.js';
import { createRegistry } from '../engine/declare/registry.js';
import { createLocator } from '../engine/plan/create-locator.js';
import type { EngineSettings } from '../engine/settings.js';
import { createMemoryJournal } from '../journal/memory-journal.js';
import { openJournal } from '../journal/open-journal.js';
import { systemClock } from '../platform/clock.js';
import { readEnvironment } from '../platform/environment.js';
import { isProcessAlive, isWorkerAlive } from '../platform/is-worker-alive.js';
import { onStrayError } from '../platform/stray-errors.js';
import { workerOfThisProcess } from '../platform/worker-of-this-process.js';
import { createAnalyzingPolicy } from '../policy/create-analyzing-policy.js';
import { commandEnvironment } from '../process/command-environment.js';
import { openOutputStore } from '../process/open-output-store.js';
import { removedValues } from '../process/removed-values.js';
import { type EnvironmentOptions, sanitizeEnvironment } from '../process/sanitize-environment.js';
import { covers } from '../sandbox/covers.js';
import { createSandbox } from '../sandbox/create-sandbox.js';
import { ownTools } from './builtin-tools.js';
import { createCommandGuard } from './create-command-guard.js';
import {
  COMMAND_LIMIT_RULES,
  checkExecutorOptions,
  ENVIRONMENT_RULES,
  type ExecutorOptions,
  LIMIT_RULES,
  OUTPUT_RULES,
  SANDBOX_RULES,
  TIMEOUT_RULES,
} from './executor-options.js';

/**
 * The executor: calls in, exactly one truthful result per call out. Returns at once; what it needs is opened on first
 * use. Close it when done (`await using` does).
 * @throws ToolError `config_invalid` for a wrong option, a root that does not exist or a schema that does not compile;
 *   `duplicate_tool`.
 */
export function createExecutor(options: ExecutorOptions = {}): Executor {
  checkExecutorOptions(options);
  const { journal, close } = settleJournal(options.journal);
  const outputs = openOutputStore(outputsBeside(options.journal));
  const { sandbox, confinement } = settleSandbox(options);
  const limits = settleOptions('commandLimits', options.commandLimits, COMMAND_LIMIT_RULES);
  const around: Around = { confinement, limits };
  const shells = shellsLazily(around);
  return createEngine(settle(options, { journal, outputs, shells, sandbox, around }), async () => {
    await shells.close();
    await outputs.close();
    await close();
  });
}

interface Opened extends Pick<EngineSettings, 'journal' | 'outputs' | 'shells' | 'sandbox'> {
  readonly around: Around;
}

/** What all commands of an executor are kept in. */
interface Around {
  readonly confinement: Confinement;
  readonly limits: CommandLimits;
}

function settle(options: ExecutorOptions, { around, ...opened }: Opened): EngineSettings {
  const { sandbox } = opened;
  const environment = settleOptions('environment', options.environment, ENVIRONMENT_RULES);
  const inherited = readEnvironment();
  return {
    registry: settleRegistry(options),
    mode: options.mode ?? 'enabled',
    definitions: settleDefinitions(options.definitions),
    policy: settlePolicy(options.policy),
    onDecision: options.onDecision,
    locator: createLocator(sandbox, inherited.HOME),
    reviewers: options.reviewers ?? [],
    approver: options.approver,
    covers,
    runCommand: (request) => runCommandLazily({ ...request, ...around }),
    commandGuard: createCommandGuard(around.confinement.os, around.confinement.roots),
    search: searchLazily(sandbox),
    commandEnvironment: commandEnvironments(environment),
    secretValues: removedValues(inherited, sanitizeEnvironment(inherited, environment)),
    middleware: options.middleware ?? [],
    limits: settleOptions('limits', options.limits, LIMIT_RULES),
    timeouts: settleTimeouts(options),
    maxOutputBytes: settleOptions('output', options.output, OUTPUT_RULES).maxBytes,
    ...opened,
    worker: workerOfThisProcess(),
    isWorkerAlive,
    isProcessAlive,
    cache: settleCache(options),
    clock: options.clock ?? systemClock,
    onStrayError,
    logger: options.logger ?? SILENT,
    createId: createIds(options.clock ?? systemClock),
  };
}

function settleSandbox({
  root = ['.'],
  sandbox: given,
}: ExecutorOptions): Pick<Opened, 'sandbox'> & Pick<Around, 'confinement'> {
  const { os, network, readable, ...options } = settleOptions('sandbox', given, SANDBOX_RULES);
  const sandbox = createSandbox({ roots: [root].flat(), ...options });
  const { roots } = sandbox;
  const guarded = (): GuardedPaths => sandbox.guarded?.() ?? NOTHING_GUARDED;
  return {
    sandbox,
    confinement: { os, network, roots, readable: readable.map((path) => resolve(path)), guarded },
  };
}

const NOTHING_GUARDED: GuardedPaths = { hidden: [], readOnly: [], missing: [], incomplete: false };

function settleRegistry({ tools, builtins = {}, clock = systemClock }: ExecutorOptions): Registry {
  if (tools === undefined) return createRegistry(ownTools(builtins, clock));
  return isToolList(tools) ? createRegistry(tools) : tools;
}

function isToolList(tools: readonly Tool[] | Registry): tools is readonly Tool[] {
  return Array.isArray(tools);
}

function settleDefinitions(definitions: ExecutorOptions['definitions'] = []): readonly ToolDefinition[] {
  const sorted = definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return Object.freeze(sorted.map((definition) => Object.freeze(structuredClone(definition))));
}

function settlePolicy(policy: ExecutorOptions['policy']): Policy | null {
  if (policy === null) return null;
  if (typeof policy === 'function') return { decide: policy };
  return policy !== undefined && 'decide' in policy ? policy : createAnalyzingPolicy(policy);
}

function settleCache({ cache, clock }: ExecutorOptions): EngineSettings['cache'] {
  if (cache === false) return null;
  return new LruResultCache(settleOptions('cache', cache, CACHE_RULES), clock ?? systemClock);
}

function settleTimeouts({ timeouts }: ExecutorOptions): EngineSettings['timeouts'] {
  const ms = settleOptions('timeouts', timeouts, TIMEOUT_RULES);
  const explicit = (key: keyof typeof ms): boolean => timeouts?.[key] !== undefined;
  return {
    default: { ms: ms.defaultMs, explicit: explicit('defaultMs') },
    files: { ms: ms.fileOperationsMs, explicit: explicit('fileOperationsMs') },
    commands: { ms: ms.shellCommandsMs, explicit: explicit('shellCommandsMs') },
    external: { ms: ms.externalToolsMs, explicit: explicit('externalToolsMs') },
  };
}

interface OpenedJournal {
  readonly journal: Journal | null;
  /** Closes it if it is ours. */
  readonly close: () => Promise<void>;
}

const NOTHING_TO_CLOSE = async (): Promise<void> => {};

function settleJournal(journal: ExecutorOptions['journal']): OpenedJournal {
  if (journal === false) return { journal: null, close: NOTHING_TO_CLOSE };
  if (typeof journal === 'object') return { journal, close: NOTHING_TO_CLOSE };
  const own = journal === undefined ? createMemoryJournal() : openJournal(journal);
  return { journal: own, close: async () => own.close() };
}

/** Everything that starts and kills processes is loaded with the first command. */
const runCommandLazily: RunCommand = async (request) => {
  const { runCommand } = await import('../process/run-command.js');
  return runCommand(request);
};

/** The same for what searches. */
function searchLazily(sandbox: Sandbox): SearchEngine {
  const load = async (): Promise<SearchEngine> =>
    (await import('../search/create-search.js')).createSearch(sandbox);
  return {
    files: async (request, signal) => (await load()).files(request, signal),
    text: async (request, signal) => (await load()).text(request, signal),
  };
}

/**
 * Read anew for every command, because the host program may change its environment at any time; judged anew, which takes
 * longer, only when it has.
 */
function commandEnvironments(options: EnvironmentOptions): EngineSettings['commandEnvironment'] {
  let lastRead: string | undefined;
  let judged: Readonly<Record<string, string>> = {};
  return () => {
    const inherited = readEnvironment();
    const read = JSON.stringify(inherited);
    if (read !== lastRead) judged = Object.freeze(commandEnvironment(inherited, options));
    lastRead = read;
    return judged;
  };
}

/** Whole outputs stay as long as the journal that names them. */
function outputsBeside(journal: ExecutorOptions['journal']): { readonly directory?: string } {
  return typeof journal === 'string' ? { directory: `${resolve(journal)}-outputs` } : {};
}

/** The same for background shells: there are none before the first is started. */
function shellsLazily(around: Around): BackgroundShells {
  let opened: BackgroundShells | undefined;
  return {
    async start(request) {
      if (opened === undefined) {
        const { openBackgroundShells } = await import('../process/open-background-shells.js');
        opened ??= openBackgroundShells();
      }
      return opened.start({ ...request, ...around });
    },
    find: (id) => opened?.find(id),
    read: (id, options) => opened?.read(id, options),
    kill: async (id) => opened?.kill(id),
    close: async () => opened?.close(),
  };
}

/** Time-ordered and unique: when this executor was made, a random part, and a number for each id that it hands out. */
function createIds(clock: Clock): () => string {
  const prefix = `${clock.now().toString(36).padStart(9, '0')}-${randomUUID()}`;
  let count = 0;
  return () => `${prefix}-${++count}`;
}

const nothing = (): void => {};
const SILENT: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
