import { type CheckStep, checkTool } from '../../../external/check-tool.js';
import { sanitize } from '../../../output/sanitize.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createPalette, type Palette, writeJson } from '../../display/terminal-text.js';
import { parseArguments } from '../../read-input.js';

interface CheckToolOptions {
  readonly args?: string;
  readonly timeout?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      "Reads a program's description, calls it, calls it four times in parallel, sends it broken input, interrupts it, and " +
        'reports the result of each step. It makes calls only with --args, or if the program declares that it changes nothing.',
    )
    .argument('<path>', 'the program')
    .option('--args <json>', 'arguments for the calls, a JSON object: the calls really run')
    .option('--timeout <seconds>', 'time limit of each call (default: 10)')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:\n  toolexec tools check ./word-count --args '{"text":"one two"}'\n  toolexec tools check ./slug.mjs --json\n`,
    )
    .addHelpText('after', '\nExit code: 0 good or usable; 1 broken.\n')
    .action(async (path: string, options: CheckToolOptions) => {
      finish(await checkProgram(path, options, context));
    });
};

/** `toolexec tools check PATH`. @throws UsageError */
export async function checkProgram(
  path: string,
  options: CheckToolOptions,
  { stdio: { stdout }, env }: CliContext,
): Promise<ExitCode> {
  const palette = createPalette(stdout.isTerminal, env);
  const isText = options.json !== true;
  const { verdict, ...check } = await checkTool(path, {
    ...(options.args === undefined ? {} : { args: parseArguments(options.args) }),
    ...(options.timeout === undefined ? {} : { timeoutMs: parseSeconds(options.timeout) }),
    onStep: (step) => {
      if (isText) stdout.write(describe(step, palette));
    },
  });
  if (isText) stdout.write(`verdict: ${verdict}\n`);
  else writeJson(stdout, { ...check, verdict });
  return verdict === 'broken' ? 1 : 0;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= 0.001 && seconds <= 3_600) return Math.round(seconds * 1_000);
  throw new UsageError(
    `Cannot wait for ${JSON.stringify(text)}: --timeout is a number of seconds from 0.001 to 3600.`,
  );
}

function describe({ name, verdict, message }: CheckStep, palette: Palette): string {
  const paint = { ok: palette.green, warning: palette.yellow, failed: palette.red, skipped: palette.dim }[
    verdict
  ];
  return `${paint(verdict.padEnd(7))}  ${name.padEnd(12)}  ${sanitize(message, 'inline')}\n`;
}
