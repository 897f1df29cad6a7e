import { covers } from '../../base/covers.js';
import type { ForbidsChange, ProgramOutcome } from '../../contract/programs.js';
import type { ToldProgram } from '../../contract/tool-processes.js';
import { grants, grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { changesMetadata } from '../../tools/command-changes.js';
import { commandError, sandboxMetadata, withNotice } from '../../tools/command-report.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** @throws ToolError `sandbox_violation` */
export function requireProgram({ tool }: ReadyCall, file: string): void {
  if (tool.program !== undefined) return;
  throw new ToolError('sandbox_violation', `Cannot run "${file}": ${tool.name} is not a program.`, {
    hint: 'Declare program: { trusted: false }, or run a command that its effects declare.',
    details: { reason: 'UndeclaredEffect', attempted: file, access: 'run' },
  });
}

/**
 * Returns a check that forbids undeclared changes. Outside the sandbox, a program's declaration is only a
 * promise; inside, undeclared changes are not committed. Undefined: the program declared no limit.
 */
export function forbidsUndeclared({ tool, effects }: ReadyCall): ForbidsChange | undefined {
  if (effects.some(({ effect }) => grantsEverything(effect))) return undefined;
  const placesFor = (change: 'write' | 'delete'): readonly string[] =>
    effects.flatMap(({ effect, at }) => (at !== undefined && grants(effect, change) ? [at] : []));
  const places = { write: placesFor('write'), delete: placesFor('delete') };
  return (path, change, isNewDirectory) => {
    if (places[change].some((place) => covers(place, path))) return undefined;
    // A declared file may need a parent directory that does not exist yet.
    const leadsTo = change === 'write' && places.write.some((place) => covers(path, place));
    return leadsTo && isNewDirectory() ? undefined : `${tool.name} has not declared that it changes this`;
  };
}

/** The facts that a result reports about a program's sandbox and its changes. */
export function tellProgram(outcome: ProgramOutcome, isConfined: boolean): ToldProgram {
  if (!isConfined) return { ...outcome, notice: '', metadata: {} };
  const { changes, discardedWrites } = outcome;
  const fault = faultOf(outcome);
  return {
    ...outcome,
    notice: withNotice('', outcome).trim(),
    metadata: {
      ...sandboxMetadata(outcome),
      ...changesMetadata(changes, discardedWrites),
      ...(outcome.reruns === undefined ? {} : { reruns: outcome.reruns }),
    },
    ...(fault === undefined ? {} : { fault }),
  };
}

/**
 * The fault that the sandbox or a limit caused. If only the program itself failed, undefined: the program
 * reports its own error.
 */
function faultOf(outcome: ProgramOutcome): ToldProgram['fault'] {
  const { aborted, overflow, discarded, limit, sandbox } = outcome;
  if (aborted || overflow) return undefined;
  const isWhole = discarded === undefined && (outcome.changes?.conflicts.length ?? 0) === 0;
  if (isWhole && limit === undefined && sandbox.lost === undefined) return undefined;
  const error = commandError(outcome, (reason) => reason);
  if (error?.code === undefined) return undefined;
  const { code, message, hint } = error;
  return { code, why: message, ...(hint === undefined ? {} : { hint }) };
}
