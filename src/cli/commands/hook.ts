import { isToolError } from '../../errors/tool-error.js';
import { AGENTS, type AgentName, HOOK_TIMEOUT_S } from '../../guard/agents.js';
import { DECIDED, type HookDocument, NotUnderstood, readDocument } from '../../guard/document.js';
import { runHook } from '../../guard/run-hook.js';
import { sanitize } from '../../output/sanitize.js';
import { systemClock } from '../../platform/clock/clock.js';
import {
  type CliContext,
  type DefineCommand,
  flushOutput,
  type RunPlain,
  UsageError,
} from '../cli-context.js';
import { guardWorld } from '../guard-world.js';

interface HookOptions {
  readonly for?: AgentName;
  /** Seconds. */
  readonly timeout?: number;
  readonly ask?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Decides about one call of another agent: its hook document on standard input, the answer on standard output. ' +
        'toolexec guard install writes the line that calls it into the settings of an agent.',
    )
    .addOption(
      command
        .createOption('--for <agent>', 'the sender of the document (default: recognised from the document)')
        .choices([...AGENTS]),
    )
    .option(
      '--timeout <seconds>',
      `stop the call if there is no answer by then; shorter than the timeout in the agent's settings (default: ${HOOK_TIMEOUT_S})`,
      parseSeconds,
    )
    .option('--no-ask', 'deny the calls that the agent should ask about: some versions run them unasked')
    .addHelpText('before', 'Examples:\n  toolexec hook --for claude-code <document.json\n')
    .addHelpText(
      'after',
      '\nExit code: 0 the answer is on standard output; 1 a finished call could not be recorded; 2 the call is\nnot let through, and standard error says why.\n',
    )
    .action(async (options: HookOptions) => {
      finish(await answerHook(options, context));
    });
};

export const runPlain: RunPlain = (words, context) => {
  const [option, name, ...more] = words;
  if (option === undefined) return answerHook({}, context);
  const agent = AGENTS.find((known) => known === name);
  return option === '--for' && agent !== undefined && more.length === 0
    ? answerHook({ for: agent }, context)
    : undefined;
};

const MOST_BYTES = 64 * 1024 * 1024;

/** `toolexec hook`: an event that cannot be decided, or not in time, is not let through. */
async function answerHook(
  { for: agent, timeout = HOOK_TIMEOUT_S, ask = true }: HookOptions,
  context: CliContext,
): Promise<number> {
  const { stdio } = context;
  let document: HookDocument | undefined;
  let isAnswered = false;
  const stop = (error: unknown): number => {
    const why = error instanceof Error ? error.message : String(error);
    stdio.stderr.write(`toolexec: ${sanitize(`${wordsFor(error, document)}${why}`, 'inline')}\n`);
    // These agents run the call after any other exit code.
    return isOver(document) ? 1 : 2;
  };
  const forget = systemClock.after(timeout * 1000, () => {
    context.exitNow(stop(`there was no answer within ${timeout} s`));
  });
  try {
    document = { ...readDocument(await stdio.stdin.readDocument(MOST_BYTES), agent), neverAsks: !ask };
    const answer = await runHook(document, guardWorld(context));
    if (answer !== undefined) stdio.stdout.write(`${JSON.stringify(answer)}\n`);
    isAnswered = true;
    await flushOutput(stdio);
    return 0;
  } catch (error) {
    if (!isAnswered) return stop(error);
    if (isOver(document) || !(error instanceof Error)) throw error;
    // After a return, the output would be written again, and that failure would end the process with 1.
    throw new UsageError(`not let through: the answer is lost. ${error.message}`, { cause: error });
  } finally {
    forget();
  }
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`--timeout must be a number of seconds above 0: ${JSON.stringify(text)}`);
}

function wordsFor(error: unknown, document: HookDocument | undefined): string {
  if (isOver(document)) return 'the end of a call could not be recorded: ';
  if (error instanceof NotUnderstood) return 'not let through: the document of the hook is not understood: ';
  return isToolError(error, 'config_invalid')
    ? 'not let through: the configuration cannot be read: '
    : 'not let through: ';
}

/** There is no call left that could be stopped. */
function isOver(document: HookDocument | undefined): boolean {
  return document !== undefined && !DECIDED.has(document.event);
}
