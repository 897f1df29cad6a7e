import type { Containment, Effect, Risk } from '../../contract/effect.js';
import type { PolicyAnswer } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import { isSideEffecting, reachesOut, uncontained } from '../../effects/traits.js';
import type { PlanSettings, StandingSandbox } from '../call/settings.js';

interface CallToContain {
  readonly tool: Tool;
  readonly declared: readonly Effect[];
  /** It may start a command in the background, which writes through. */
  readonly startsShell: boolean;
  readonly answer: PolicyAnswer;
}

/**
 * What stands around a call, and what of it can be taken back.
 * @param around its command, or its program; undefined: it runs neither, or outside of them
 */
export function containmentOf(
  { tool, declared, startsShell, answer }: CallToContain,
  around: StandingSandbox | undefined,
  { journal }: Pick<PlanSettings, 'journal'>,
): Containment {
  if (around === undefined) {
    // A tool that says which files it would change changes them with the handle that it is given, and notes it first.
    const isNoted = journal !== null && tool.previewChanges !== undefined && changesOnlyFiles(declared);
    return isNoted ? { transaction: false, network: false, undo: true } : uncontained(declared);
  }
  const transaction = around.transaction && !startsShell && answer.writesThrough !== true;
  // A program runs as a whole inside; beside a command the tool's own code may do what it has declared.
  const beside = tool.program === undefined ? declared.filter(({ kind }) => kind !== 'run') : [];
  const network = around.network || reachesOut(beside);
  return { transaction, network, undo: transaction && journal !== null && !isSideEffecting(beside) };
}

function changesOnlyFiles(declared: readonly Effect[]): boolean {
  const isFile = ({ kind }: Effect): boolean => kind === 'read' || kind === 'write' || kind === 'delete';
  return declared.every(isFile) && isSideEffecting(declared);
}

/**
 * The risk, once what stands around the call is counted.
 * @param own what the tool says, or its effects
 */
export function riskWithin(
  { transaction, network }: Containment,
  own: Risk,
  declared: readonly Effect[],
  { analyze }: Pick<PlanSettings, 'analyze'>,
): Risk {
  if (own === 'low' || !transaction || network) return own;
  return declared.every((effect) => onlyReads(effect, analyze)) ? 'low' : 'medium';
}

/** As far as the text of a command says so: a program that may touch more than its words tell does not only read. */
function onlyReads(effect: Effect, analyze: PlanSettings['analyze']): boolean {
  if (effect.kind !== 'run') return effect.kind === 'read';
  const { verdict, effects, found } = analyze(effect.command, effect.shell);
  return (
    verdict === 'allow' &&
    effects.every(({ kind }) => kind === 'read') &&
    found?.every(({ isUntold }) => !isUntold) === true
  );
}
