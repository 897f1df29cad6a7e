import { randomUUID } from 'node:crypto';
import type { ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { TextOutput } from '../../platform/runtime/stdio.js';
import { outputInWords } from '../../providers/content-words.js';
import { writeResults } from '../../providers/write-results.js';
import { chooseAsker, holding } from '../ask-person.js';
import { chooseApprover } from '../choose-approver.js';
import { type CliContext, type DefineCommand, type ExitCode, UsageError } from '../cli-context.js';
import { createDisplay, noteResults } from '../display/display.js';
import { writeJson } from '../display/terminal-text.js';
import { exitCodeOf } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { addBatchOptions, type BatchOptions, EXIT_CODES_HELP } from '../options.js';
import { parseArguments, readSource } from '../read-input.js';
import { resolveRun } from '../resolve-settings.js';
import { runBatch } from '../run-batch.js';

interface CallOptions extends BatchOptions {
  readonly timeout?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs one tool and writes its output to standard output. Policy and approval are the same as for run.',
    )
    .argument('<tool>', 'the name of the tool')
    .argument('[json]', 'its arguments, a JSON object; without it, or with -, from standard input')
    .addHelpText(
      'before',
      `Examples:
  toolexec call read_file '{"path":"README.md"}'
  toolexec call bash '{"command":"npm test"}' --yes
  echo '{"path":"."}' | toolexec call list_directory --json
`,
    )
    .addHelpText('after', EXIT_CODES_HELP);
  addBatchOptions(command)
    .option('--timeout <seconds>', 'time limit of the call, overriding its own')
    .action(async (name: string, json: string | undefined, options: CallOptions) => {
      finish(await callTool(name, json, options, context));
    });
};

/** `toolexec call`: runs one tool by hand, as a new call each time. */
export async function callTool(
  name: string,
  json: string | undefined,
  options: CallOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const timeoutMs = readTimeout(options.timeout);
  const resolved = resolveRun(options, context);
  const args = await readArguments(json, { stdio });
  const approver = chooseApprover(options, context, resolved.executor);
  const asker = chooseAsker(stdio, env);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of resolved.notes) display.note(note);
  await using executor = await openExecutor({
    ...resolved.executor,
    ...(approver === undefined ? {} : { approver: holding(display, approver) }),
    ...(asker === undefined ? {} : { asker: holding(display, asker) }),
  });
  const { results, interrupted } = await runBatch({
    executor,
    calls: [{ id: `call_${randomUUID()}`, name, args }],
    errors: [],
    options: { dryRun: options.dryRun === true, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    display,
    stdio,
    exitNow: () => exitNow(exitCodeOf([], true)),
  });
  if (options.json === true) writeJson(stdio.stdout, writeResults('native', results));
  else for (const result of results) writeOutput(stdio.stdout, result);
  noteResults(results, display, '--yes or --deny');
  return exitCodeOf(results, interrupted);
}

/** In milliseconds. @throws UsageError */
function readTimeout(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = /^\d+(?:\.\d+)?$/.test(given) ? Number(given) : 0;
  if (seconds > 0) return seconds * 1000;
  throw new UsageError(
    `Cannot use --timeout ${JSON.stringify(given)}: a number of seconds above 0 is expected.`,
  );
}

async function readArguments(
  json: string | undefined,
  { stdio }: Pick<CliContext, 'stdio'>,
): Promise<JsonObject> {
  const fromStdin = json === '-' || (json === undefined && !stdio.stdin.isTerminal);
  const text = fromStdin ? (await readSource('-', stdio)).text : (json ?? '');
  // Many tools need no arguments.
  if (text.trim() === '' && json !== '') return {};
  return parseArguments(text);
}

/** Unchanged, so that a file can be copied this way; a terminal gets a final line end. */
function writeOutput(out: TextOutput, result: ToolResult): void {
  const output = outputInWords(result);
  const needsEnd = out.isTerminal && output !== '' && !output.endsWith('\n');
  out.write(needsEnd ? `${output}\n` : output);
}
