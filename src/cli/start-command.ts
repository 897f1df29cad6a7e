import type { CliContext } from './cli-context.js';
import { COMMANDS } from './commands.js';

/**
 * Runs the command in this process's arguments. The option parser is loaded only for words that a command does not
 * handle itself.
 * @throws UsageError for an unknown command, argument or option.
 */
export async function startCommand(context: CliContext): Promise<number> {
  return (await runPlainly(context)) ?? (await import('./program.js')).runProgram(context);
}

async function runPlainly(context: CliContext): Promise<number | undefined> {
  const [name, ...words] = context.stdio.args;
  const row = COMMANDS.find((candidate) => candidate.name === name);
  if (row === undefined || !('isPlain' in row)) return undefined;
  const { runPlain } = await row.load();
  return runPlain?.(words, context);
}
