import { randomUUID } from 'node:crypto';
import { covers } from '../base/covers.js';
import { normalizeOptions } from '../base/normalize-options.js';
import { commandEnvironment } from '../commands/command-environment.js';
import { type EnvironmentOptions, removedValues } from '../commands/sanitize-environment.js';
import type { Clock, Logger } from '../contract/context.js';
import type { Policy } from '../contract/policy.js';
import type { Registry } from '../contract/tool.js';
import { systemClock } from '../platform/clock/clock.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import { compilePolicy } from '../policy/compile-policy.js';
import { policyOf } from '../policy/create-policy.js';
import { checkExamples } from '../policy/evaluation/check-examples.js';
import type { PlanSettings } from './call/settings.js';
import { shieldClock } from './call/shields.js';
import {
  canKeepApart,
  createCommandGuard,
  type LazyAnalysis,
  lazyAnalysis,
} from './commands-on-first-use.js';
import { DEFAULT_LOGGER } from './default-logger.js';
import {
  ENVIRONMENT_RULES,
  type ExecutorOptions,
  LIMIT_RULES,
  OUTPUT_RULES,
  TIMEOUT_RULES,
} from './executor-options.js';
import type { ExecutorParts } from './executor-parts.js';
import { createLocator } from './plan/create-locator.js';
import { sandboxFor } from './sandbox-for.js';

/** The parts of the options that planning needs, and the facts found while they were prepared. */
export interface PlanningParts extends Pick<ExecutorParts, 'checkExamples'> {
  /** The code that records and runs calls opens the journal and the outputs. */
  readonly settings: Omit<PlanSettings, 'journal' | 'outputs' | 'secretValues'>;
  readonly reach: ReturnType<typeof sandboxFor>;
  readonly environment: EnvironmentOptions;
  /** The values that no output shows. A plan needs them only for a refused call. */
  readonly secretValues: () => string[];
}

/** @throws ToolError `config_invalid` for a wrong option, or a root that does not exist */
export function planningParts(
  options: ExecutorOptions,
  registryFor: (clock: Clock, logger: Logger) => Registry,
): PlanningParts {
  const clock = shieldClock(options.clock ?? systemClock);
  const { logger = DEFAULT_LOGGER } = options;
  const output = normalizeOptions('output', options.output, OUTPUT_RULES);
  const registry = registryFor(clock, logger);
  const { policy, loadAnalysis, analyze, checkExamples } = policyFor(options.policy);
  const reach = sandboxFor(options, { policy, registry });
  const { sandbox, confinement, programs } = reach;
  const environment = normalizeOptions('environment', options.environment, ENVIRONMENT_RULES);
  const inherited = readEnvironment();
  const secretValues = () => removedValues(inherited, commandEnvironment(inherited, environment));
  const mayKeepApart =
    confinement.os !== 'off' && !confinement.network && confinement.transactions !== undefined;
  const settings: PlanningParts['settings'] = {
    registry,
    mode: options.mode ?? 'enabled',
    policy,
    loadAnalysis,
    analyze,
    onDecision: options.onDecision,
    locator: createLocator(sandbox, inherited.HOME),
    sandbox,
    covers,
    programs: { which: programs, confinement },
    keepsCommandsApart: mayKeepApart && confinement.os === 'required',
    mayKeepApart,
    profile: options.profile ?? 'none',
    canKeepApart: () => canKeepApart(confinement),
    commandGuard: createCommandGuard(confinement),
    limits: normalizeOptions('limits', options.limits, LIMIT_RULES),
    timeouts: timeoutsOf(options),
    maxOutputBytes: output.maxBytes,
    maxContentBytes: output.maxContentBytes,
    clock,
    logger,
    createId: createIds(clock),
  };
  return { settings, reach, environment, secretValues, checkExamples };
}

interface PolicyParts extends Pick<ExecutorParts, 'checkExamples'> {
  readonly policy: Policy | null;
  readonly loadAnalysis: LazyAnalysis['load'];
  readonly analyze: LazyAnalysis['analyze'];
}

function policyFor(given: ExecutorOptions['policy'] = {}): PolicyParts {
  const analysis = lazyAnalysis();
  const { analyze } = analysis;
  const parts = { loadAnalysis: () => analysis.load(), analyze, checkExamples: undefined };
  if (given === null) return { ...parts, policy: null };
  if (typeof given === 'function') return { ...parts, policy: { decide: given } };
  if ('decide' in given) return { ...parts, policy: given };
  const compiled = compilePolicy(given);
  const { rules } = compiled;
  const policy = policyOf(compiled, { analyzeCommand: analyze });
  const hasExamples = rules.some(({ rule }) => (rule.match ?? rule.not_match) !== undefined);
  if (!hasExamples) return { ...parts, policy };
  return {
    ...parts,
    policy,
    // Examples may contain command lines, so the command analysis is loaded first.
    async checkExamples() {
      await analysis.load();
      checkExamples(rules, analyze, compiled.options.mode);
    },
  };
}

function timeoutsOf({ timeouts }: ExecutorOptions): PlanSettings['timeouts'] {
  const ms = normalizeOptions('timeouts', timeouts, TIMEOUT_RULES);
  const explicit = (key: keyof typeof ms): boolean => timeouts?.[key] !== undefined;
  return {
    default: { ms: ms.defaultMs, explicit: explicit('defaultMs') },
    files: { ms: ms.fileOperationsMs, explicit: explicit('fileOperationsMs') },
    commands: { ms: ms.shellCommandsMs, explicit: explicit('shellCommandsMs') },
    external: { ms: ms.externalToolsMs, explicit: explicit('externalToolsMs') },
  };
}

/**
 * Creates ids that are unique and ordered by time. The millisecond and a counter within it come first and distinguish
 * the ids of one process; the rest distinguishes processes.
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
      // Too many ids in one millisecond, or a clock that stands still: use the next millisecond.
      ms++;
      count = 0;
    }
    if (count === 0) prefix = ms.toString(36).padStart(9, '0');
    return `${prefix}${count.toString(36).padStart(2, '0')}-${random}`;
  };
}

const IDS_PER_MS = 36 ** 2;
