import { resolve } from 'node:path';
import type { JsonValue } from '../../../contract/json.js';
import type { CrashTrial, CrashVerdict } from '../../../crash-kit/crash-trial.js';
import type { CliContext } from '../../cli-context.js';
import type { CrashOptions } from '../../define/define-crash.js';
import { writeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';
import { parseArguments } from '../../read-input.js';
import { watchInterrupts } from '../../run-batch.js';

/** Not bundled: it starts programs that lie beside it. */
const KIT: string = 'toolexec/testing';

export interface CrashRequest {
  readonly module: string;
  /** Left out: the calls that the module exports. */
  readonly name?: string;
  readonly json?: string;
}

/** `toolexec tools crash`: kills processes that run a tool, and says what became of its calls. */
export async function crashTools(
  request: CrashRequest,
  options: CrashOptions,
  { stdio, exitNow }: CliContext,
): Promise<ExitCode> {
  const trial = toTrial(request, options);
  const { runCrashTrial } = (await import(KIT)) as typeof import('../../../crash-kit/run-crash-trial.js');
  const abort = new AbortController();
  const interrupts = watchInterrupts(stdio, { first: () => abort.abort(), second: () => exitNow(130) });
  const showRounds = stdio.stderr.isTerminal && options.json !== true;
  let verdict: CrashVerdict;
  try {
    verdict = await runCrashTrial({
      ...trial,
      signal: abort.signal,
      onRound: (done, of) => {
        if (showRounds) stdio.stderr.write(`\r${done} of ${of} rounds${done === of ? '\n' : ''}`);
      },
    });
  } finally {
    interrupts.stop();
  }
  const { report, ...rest } = verdict;
  if (options.json === true) writeJson(stdio.stdout, rest as unknown as JsonValue);
  else stdio.stdout.write(report);
  if (interrupts.happened()) return 130;
  return verdict.passed ? 0 : 1;
}

function toTrial({ module, name, json }: CrashRequest, options: CrashOptions): CrashTrial {
  return {
    tools: module.startsWith('file:') ? module : resolve(module),
    ...(name === undefined
      ? {}
      : { calls: [{ name, args: json === undefined ? {} : parseArguments(json) }] }),
    ...(options.kills === undefined ? {} : { randomKills: options.kills }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    parallel: options.parallel === true,
  };
}
