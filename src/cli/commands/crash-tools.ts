import { resolve } from 'node:path';
import { JsonTextError } from '../../base/json-text-error.js';
import { parseJson } from '../../base/parse-json.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { CrashTrial, CrashVerdict } from '../../crash-kit/crash-trial.js';
import type { CrashOptions } from '../define/define-crash.js';
import type { ExitCode } from '../exit-code.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';
import { UsageError } from '../usage-error.js';
import { watchInterrupts } from '../watch-interrupts.js';

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
  { stdio, exitNow }: Surroundings,
): Promise<ExitCode> {
  const trial = toTrial(request, options);
  const { runCrashTrial } = (await import(KIT)) as typeof import('../../crash-kit/run-crash-trial.js');
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
    ...(name === undefined ? {} : { calls: [{ name, args: toArguments(json) }] }),
    ...(options.kills === undefined ? {} : { randomKills: options.kills }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    parallel: options.parallel === true,
  };
}

function toArguments(json: string | undefined): JsonObject {
  if (json === undefined) return {};
  try {
    const value = parseJson(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new UsageError(`The arguments are no JSON: ${error.message}`);
  }
  throw new UsageError(`The arguments must be a JSON object, such as '{"path":"a.txt"}'.`);
}
