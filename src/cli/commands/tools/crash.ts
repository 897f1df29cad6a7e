import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { JsonValue } from '../../../contract/json.js';
import { importInstalled } from '../../../platform/runtime/installed-package.js';
import type { CrashTrial, CrashVerdict } from '../../../testing/crash-trial.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { parseArguments } from '../../read-input.js';
import { watchInterrupts } from '../../watch-interrupts.js';

interface CrashOptions {
  readonly kills?: number;
  readonly seed?: number;
  readonly parallel?: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs a batch in separate processes and kills them with SIGKILL: before and after every step of the journal, ' +
        'and at random instants. After each kill every call must have exactly one truthful result, and nothing may ' +
        'have happened twice. The module exports the tools (by default, as tools or as tool), and may export calls, ' +
        'prepare(root), observe(root) and knowable: see docs/crash-kit.md. Every round has a separate directory; ' +
        'effects of the tool outside it are real.',
    )
    .argument('<module>', 'the tools: a JavaScript module')
    .argument('[tool]', 'one call of this tool, instead of the calls that the module exports')
    .argument('[json]', 'its arguments, a JSON object')
    .option(
      '--kills <n>',
      'additional kills at random instants, besides those at every step (default 20)',
      toWhole,
    )
    .option('--seed <n>', 'repeat the random instants of an earlier verdict, which names its seed', toWhole)
    .option('--parallel', 'calls that do not conflict run side by side')
    .option('--json', 'the verdict as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec tools crash ./payments.mjs
  toolexec tools crash ./payments.mjs pay '{"amount":3}' --kills 200
`,
    )
    .addHelpText(
      'after',
      '\nExit codes: 0 passed, 1 failed, 2 wrong usage or nothing to run, 130 interrupted.\n',
    )
    .action(
      async (module: string, name: string | undefined, json: string | undefined, options: CrashOptions) => {
        const request = {
          module,
          ...(name === undefined ? {} : { name }),
          ...(json === undefined ? {} : { json }),
        };
        finish(await crashTools(request, options, context));
      },
    );
};

/** Not bundled, because it starts programs next to it. */
const KIT: string = 'toolexec/testing';

export interface CrashRequest {
  readonly module: string;
  /** If absent: the calls that the module exports. */
  readonly name?: string;
  readonly json?: string;
}

/** `toolexec tools crash`: kills processes that run a tool, and reports the outcome of its calls. */
export async function crashTools(
  request: CrashRequest,
  options: CrashOptions,
  { stdio, exitNow }: CliContext,
): Promise<ExitCode> {
  const trial = toTrial(request, options);
  const { runCrashTrial } = (await importInstalled(
    KIT,
  )) as typeof import('../../../testing/run-crash-trial.js');
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

function toWhole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
