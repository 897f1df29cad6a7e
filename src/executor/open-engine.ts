import { covers } from '../base/covers.js';
import { onFirstUse } from '../base/on-first-use.js';
import { commandEnvironment } from '../commands/command-environment.js';
import { openOutputStore } from '../commands/open-output-store.js';
import { removedValues } from '../commands/removed-values.js';
import { type EnvironmentOptions, sanitizeEnvironment } from '../commands/sanitize-environment.js';
import type { Sandbox } from '../contract/files.js';
import type { Policy } from '../contract/policy.js';
import type {
  BackgroundShells,
  CommandLimits,
  Confinement,
  GuardedPaths,
  RunCommand,
} from '../contract/processes.js';
import type { SearchEngine } from '../contract/search.js';
import { ToolError } from '../errors/tool-error.js';
import { createMemoryJournal } from '../journal/memory-journal.js';
import { createByteRedactor } from '../output/create-redactor.js';
import { systemClock } from '../platform/clock.js';
import { readEnvironment } from '../platform/environment.js';
import { isProcessAlive, isWorkerAlive, isWorkerVisible } from '../platform/is-worker-alive.js';
import { onStrayError } from '../platform/stray-errors.js';
import { workerOfThisProcess } from '../platform/worker-of-this-process.js';
import { policyOf } from '../policy/create-policy.js';
import { sandboxIn } from '../sandbox/create-sandbox.js';
import { createCommandGuard } from './create-command-guard.js';
import { createEngine, type Engine } from './create-engine.js';
import { type LazyAnalysis, lazyAnalysis } from './lazy-analysis.js';
import { createLocator } from './plan/create-locator.js';
import type { EngineSettings } from './settings.js';
import type { Settled } from './settled.js';

/**
 * The engine of an executor, with everything that it needs to run calls. What single calls need besides is loaded
 * with the first of them.
 * @throws ToolError `config_invalid` for an example of a policy rule that does not hold.
 */
export async function openEngine(settled: Settled): Promise<Engine> {
  const { environment, inherited, wall, territory, ...given } = settled;
  const analysis = lazyAnalysis();
  const policy = await openPolicy(settled.policy, analysis);
  const sandbox = sandboxIn(territory, settled.denies);
  const confinement = confinementOf(wall, sandbox);
  const around: Around = { confinement, limits: settled.commandLimits };
  const { journal, close } = openJournalOf(settled.journal);
  const secretValues = removedValues(inherited, sanitizeEnvironment(inherited, environment));
  const outputs = openOutputStore({ ...settled.outputs, hide: () => createByteRedactor(secretValues) });
  const shells = shellsLazily(around);
  const commands = commandsLazily();
  const settings: EngineSettings = {
    ...given,
    policy,
    loadAnalysis: () => analysis.load(),
    sandbox,
    journal,
    outputs,
    shells,
    locator: createLocator(sandbox, inherited.HOME),
    covers,
    runCommand: (request) => commands.run({ ...request, ...around }),
    commandGuard: createCommandGuard(wall.os, sandbox.roots),
    search: searchLazily(sandbox),
    commandEnvironment: commandEnvironments(environment, secretValues),
    secretValues,
    worker: workerOfThisProcess(),
    isWorkerAlive,
    isWorkerVisible,
    isProcessAlive,
    onStrayError,
  };
  return createEngine(settings, () =>
    closeAll([() => shells.close(), () => commands.close(), () => outputs.close(), close]),
  );
}

/** How long one part of an executor may take to close. */
const CLOSING_MS = 10_000;

/**
 * Closes every part, in order, also where one before it fails or never ends.
 * @throws the first failure; ToolError `execution_failed` for a part that does not end in time.
 */
async function closeAll(parts: readonly (() => Promise<void> | void)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of parts) {
    let forget = (): void => {};
    const late = new Promise<never>((_, reject) => {
      forget = systemClock.after(CLOSING_MS, () =>
        reject(
          new ToolError('execution_failed', `A part of the executor did not close within ${CLOSING_MS}ms.`),
        ),
      );
    });
    try {
      await Promise.race([close(), late]);
    } catch (error) {
      failures.push(error);
    } finally {
      forget();
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** What all commands of an executor are kept in. */
interface Around {
  readonly confinement: Confinement;
  readonly limits: CommandLimits;
}

async function openPolicy(policy: Settled['policy'], analysis: LazyAnalysis): Promise<Policy | null> {
  if (policy === null || 'decide' in policy) return policy;
  // Examples may be command lines, and are tried out now.
  const hasExamples = policy.rules.some(({ rule }) => (rule.match ?? rule.not_match) !== undefined);
  if (hasExamples) await analysis.load();
  return policyOf(policy, { analyzeCommand: analysis.analyze });
}

function confinementOf(wall: Settled['wall'], sandbox: Sandbox): Confinement {
  const guarded = (): GuardedPaths => sandbox.guarded?.() ?? NOTHING_GUARDED;
  return { ...wall, roots: sandbox.roots, guarded };
}

const NOTHING_GUARDED: GuardedPaths = { hidden: [], readOnly: [], missing: [], incomplete: false };

function openJournalOf(settled: Settled['journal']): Pick<EngineSettings, 'journal'> & {
  readonly close: () => Promise<void>;
} {
  if (settled.kind === 'given') return { journal: settled.journal, close: async () => {} };
  const journal = settled.kind === 'memory' ? createMemoryJournal() : settled.journal;
  return { journal, close: async () => journal.close() };
}

/** Everything that starts and kills processes is loaded with the first command. */
function commandsLazily(): { readonly run: RunCommand; readonly close: () => Promise<void> } {
  let release: (() => Promise<void>) | undefined;
  const run = onFirstUse(async () => {
    const { runCommand } = await import('../commands/run-command.js');
    const { useCommandHelpers } = await import('../commands/command-helpers.js');
    release ??= useCommandHelpers();
    return runCommand;
  });
  return { run, close: async () => release?.() };
}

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
 * longer, only when it has. What is kept from commands since then joins the values that no output shows.
 */
function commandEnvironments(
  options: EnvironmentOptions,
  secretValues: string[],
): EngineSettings['commandEnvironment'] {
  let lastRead: string | undefined;
  let judged: Readonly<Record<string, string>> = {};
  return () => {
    const inherited = readEnvironment();
    const read = JSON.stringify(inherited);
    if (read === lastRead) return judged;
    judged = Object.freeze(commandEnvironment(inherited, options));
    const removed = removedValues(inherited, judged);
    secretValues.push(...removed.filter((value) => !secretValues.includes(value)));
    lastRead = read;
    return judged;
  };
}

/** The same for background shells: there are none before the first is started. */
function shellsLazily(around: Around): BackgroundShells {
  let opened: BackgroundShells | undefined;
  return {
    async start(request) {
      if (opened === undefined) {
        const { openBackgroundShells } = await import('../commands/open-background-shells.js');
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
