import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { CliContext } from '../cli-context.js';
import type { Finish } from './command-group.js';

export interface CrashOptions {
  readonly kills?: number;
  readonly seed?: number;
  readonly parallel?: boolean;
  readonly json?: boolean;
}

/** `tools crash`, for the authors of tools. */
export function defineCrash(tools: Command, context: CliContext, finish: Finish): void {
  tools
    .command('crash')
    .summary('kill processes that run a tool, and see what becomes of its calls')
    .description(
      'Runs a batch in processes of its own and kills them with SIGKILL: before and after every step of the journal, ' +
        'and at random instants. After each kill every call must have exactly one truthful result, and nothing may ' +
        'have happened twice. The module exports the tools (by default, as tools or as tool), and may export calls, ' +
        'prepare(root), observe(root) and knowable: see docs/crash-kit.md. Every round has a directory of its own; ' +
        'what the tool does beyond it is really done.',
    )
    .argument('<module>', 'the tools: a JavaScript module')
    .argument('[tool]', 'one call of this tool, instead of the calls that the module exports')
    .argument('[json]', 'its arguments, a JSON object')
    .option('--kills <n>', 'kills at random instants, on top of those at every step (default 20)', toWhole)
    .option('--seed <n>', 'the same instants again, as a verdict has named it', toWhole)
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
        const { crashTools } = await import('../commands/tools/crash.js');
        const request = {
          module,
          ...(name === undefined ? {} : { name }),
          ...(json === undefined ? {} : { json }),
        };
        finish(await crashTools(request, options, context));
      },
    );
}

function toWhole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
