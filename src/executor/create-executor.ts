import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { normalizeOptions } from '../base/normalize-options.js';
import type { Clock } from '../contract/context.js';
import type { Executor } from '../contract/executor.js';
import type { Journal } from '../contract/journal.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { openJournal } from '../journal/open-journal.js';
import { systemClock } from '../platform/clock.js';
import { readEnvironment } from '../platform/environment.js';
import { compilePolicy } from '../policy/compile-policy.js';
import { compilePattern } from '../sandbox/compile-pattern.js';
import { createTerritory } from '../sandbox/territory.js';
import { ownTools } from './builtin-tools.js';
import { CACHE_RULES, LruResultCache } from './cache/create-result-cache.js';
import { createRegistry } from './declare/registry.js';
import {
  COMMAND_LIMIT_RULES,
  checkExecutorOptions,
  ENVIRONMENT_RULES,
  type ExecutorOptions,
  JOURNAL_FILE_RULES,
  type JournalFile,
  LIMIT_RULES,
  OUTPUT_RULES,
  SANDBOX_RULES,
  TIMEOUT_RULES,
} from './executor-options.js';
import { LazyExecutor } from './lazy-executor.js';
import { shieldClock } from './record/shields.js';
import type { Settled } from './settled.js';

/**
 * The executor: calls in, exactly one truthful result per call out. Returns at once; what it needs is loaded and
 * opened on first use. Close it when done (`await using` does).
 * @throws ToolError `config_invalid` for a wrong option, a root that does not exist or a schema that does not compile;
 *   `duplicate_tool`. What a rule's own examples show is found out on first use.
 */
export function createExecutor(options: ExecutorOptions = {}): Executor {
  checkExecutorOptions(options);
  return new LazyExecutor(settle(options));
}

function settle(options: ExecutorOptions): Settled {
  const clock = shieldClock(options.clock ?? systemClock);
  const output = normalizeOptions('output', options.output, OUTPUT_RULES);
  return {
    registry: settleRegistry(options),
    mode: options.mode ?? 'enabled',
    definitions: settleDefinitions(options.definitions),
    policy: settlePolicy(options.policy),
    onDecision: options.onDecision,
    reviewers: options.reviewers ?? [],
    approver: options.approver,
    ...settleSandbox(options),
    commandLimits: normalizeOptions('commandLimits', options.commandLimits, COMMAND_LIMIT_RULES),
    environment: normalizeOptions('environment', options.environment, ENVIRONMENT_RULES),
    inherited: readEnvironment(),
    middleware: options.middleware ?? [],
    limits: normalizeOptions('limits', options.limits, LIMIT_RULES),
    timeouts: settleTimeouts(options),
    maxOutputBytes: output.maxBytes,
    maxContentBytes: output.maxContentBytes,
    journal: settleJournal(options),
    outputs: outputsBeside(options.journal),
    cache: settleCache(options, clock),
    clock,
    logger: options.logger ?? SILENT,
    createId: createIds(clock),
  };
}

function settleSandbox({
  root = ['.'],
  sandbox: given,
}: ExecutorOptions): Pick<Settled, 'territory' | 'denies' | 'wall'> {
  const options = normalizeOptions('sandbox', given, SANDBOX_RULES);
  const { os, network, readable, allowAbsolute, hardLinks, ...denies } = options;
  const territory = createTerritory({ roots: [root].flat(), allowAbsolute, hardLinks });
  for (const key of ['deniedPatterns', 'deniedWritePatterns'] as const)
    for (const pattern of denies[key]) compilePattern(pattern, key);
  return { territory, denies, wall: { os, network, readable: readable.map((path) => resolve(path)) } };
}

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

function settlePolicy(policy: ExecutorOptions['policy'] = {}): Settled['policy'] {
  if (policy === null) return null;
  if (typeof policy === 'function') return { decide: policy };
  return 'decide' in policy ? policy : compilePolicy(policy);
}

function settleCache({ cache }: ExecutorOptions, clock: Clock): Settled['cache'] {
  if (cache === false) return null;
  return new LruResultCache(normalizeOptions('cache', cache, CACHE_RULES), clock);
}

function settleTimeouts({ timeouts }: ExecutorOptions): Settled['timeouts'] {
  const ms = normalizeOptions('timeouts', timeouts, TIMEOUT_RULES);
  const explicit = (key: keyof typeof ms): boolean => timeouts?.[key] !== undefined;
  return {
    default: { ms: ms.defaultMs, explicit: explicit('defaultMs') },
    files: { ms: ms.fileOperationsMs, explicit: explicit('fileOperationsMs') },
    commands: { ms: ms.shellCommandsMs, explicit: explicit('shellCommandsMs') },
    external: { ms: ms.externalToolsMs, explicit: explicit('externalToolsMs') },
  };
}

function settleJournal({ journal, logger = SILENT }: ExecutorOptions): Settled['journal'] {
  if (journal === undefined) return { kind: 'memory' };
  if (journal === false) return { kind: 'given', journal: null };
  const file = toJournalFile(journal);
  if ('accept' in file) return { kind: 'given', journal: file };
  return { kind: 'own', journal: openJournal(file.path, { onLoss: file.onLoss, logger }) };
}

/** Whole outputs stay as long as the journal that names them. */
function outputsBeside(journal: ExecutorOptions['journal'] = false): Settled['outputs'] {
  if (journal === false) return {};
  const file = toJournalFile(journal);
  return 'accept' in file ? {} : { directory: `${resolve(file.path)}-outputs` };
}

/** A journal of the caller's own stays as it is. */
function toJournalFile(journal: string | JournalFile | Journal): Required<JournalFile> | Journal {
  if (typeof journal === 'object' && 'accept' in journal) return journal;
  return normalizeOptions(
    'journal',
    typeof journal === 'string' ? { path: journal } : journal,
    JOURNAL_FILE_RULES,
  );
}

/**
 * Time-ordered and unique. The millisecond comes first, then which id of it this is: what tells the ids of one process
 * apart stands at their beginning. What tells processes apart stands at the end.
 */
function createIds(clock: Clock): () => string {
  const random = randomUUID().replaceAll('-', '').slice(0, 16);
  let ms = 0;
  let prefix = '';
  let count = 0;
  return () => {
    const now = Math.floor(clock.now()) || 0;
    if (now > ms) {
      ms = now;
      count = 0;
    } else if (++count === IDS_PER_MS) {
      // So many in one millisecond, or a clock that stands: the next one is as good.
      ms++;
      count = 0;
    }
    if (count === 0) prefix = ms.toString(36).padStart(9, '0');
    return `${prefix}${count.toString(36).padStart(2, '0')}-${random}`;
  };
}

const IDS_PER_MS = 36 ** 2;

const nothing = (): void => {};
const SILENT: Settled['logger'] = { debug: nothing, info: nothing, warn: nothing, error: nothing };
