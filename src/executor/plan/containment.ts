import type { Containment, Effect, Risk } from '../../contract/effect.js';
import type { PolicyAnswer } from '../../contract/policy.js';
import type { Tool } from '../../contract/tool.js';
import { isSideEffecting, reachesOut, uncontained } from '../../effects/traits.js';
import type { PlanSettings, StandingSandbox } from '../call/settings.js';

interface CallToContain {
  readonly tool: Tool;
  readonly declared: readonly Effect[];
  /** The call may start a command in the background, which writes through. */
  readonly startsShell: boolean;
  readonly answer: PolicyAnswer;
}

/**
 * Describes the sandbox around a call, and whether the call can be undone.
 * @param around the sandbox of the call's command or program; undefined: the call runs neither, or runs it
 * outside
 */
export function containmentOf(
  { tool, declared, startsShell, answer }: CallToContain,
  around: StandingSandbox | undefined,
  { journal }: Pick<PlanSettings, 'journal'>,
): Containment {
  if (around === undefined) {
    // A tool that previews its file changes makes them through its file handle, which notes each change
    // first.
    const isNoted = journal !== null && tool.previewChanges !== undefined && changesOnlyFiles(declared);
    return isNoted ? { transaction: false, network: false, undo: true } : uncontained(declared);
  }
  const transaction = around.transaction && !startsShell && answer.writesThrough !== true;
  // A program runs entirely in the sandbox. A tool that runs a command also has its own code, outside the sandbox,
  // which may have the other declared effects.
  const beside = tool.program === undefined ? declared.filter(({ kind }) => kind !== 'run') : [];
  const network = around.network || reachesOut(beside);
  return { transaction, network, undo: transaction && journal !== null && !isSideEffecting(beside) };
}

function changesOnlyFiles(declared: readonly Effect[]): boolean {
  const isFile = ({ kind }: Effect): boolean => kind === 'read' || kind === 'write' || kind === 'delete';
  return declared.every(isFile) && isSideEffecting(declared);
}

/**
 * The risk of a call, after its containment is taken into account.
 * @param own the risk that the tool states, or the risk of its effects
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

/**
 * Whether an effect only reads, as far as a command's text shows. If the command runs a program that may
 * touch more than its words say, the answer is no.
 */
function onlyReads(effect: Effect, analyze: PlanSettings['analyze']): boolean {
  if (effect.kind !== 'run') return effect.kind === 'read';
  const { verdict, effects, found } = analyze(effect.command, effect.shell);
  return (
    verdict === 'allow' &&
    effects.every(({ kind }) => kind === 'read') &&
    found?.every(({ isUntold }) => !isUntold) === true
  );
}
