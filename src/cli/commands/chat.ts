import { randomUUID } from 'node:crypto';
import { Option } from 'commander';
import type { LoopResult, ToolLoop } from '../../loop/loop-contract.js';
import { createToolLoop, modelAgents } from '../../loop/tool-loop.js';
import { systemClock } from '../../platform/clock/clock.js';
import { writeResults } from '../../providers/write-results.js';
import { chooseAsker, holding } from '../ask-person.js';
import { CallReport, MORE_KEY } from '../chat/call-report.js';
import { ChatSession } from '../chat/chat-session.js';
import { ChatView } from '../chat/chat-view.js';
import { HeldConversations } from '../chat/held-conversations.js';
import { PersonPrompt } from '../chat/person-prompt.js';
import {
  type Containment,
  defaultSystem,
  describeContainment,
  describePlace,
  projectInstructions,
} from '../chat/system-text.js';
import { chooseApprover } from '../choose-approver.js';
import { addModelOptions, type ModelChoice, modelOf, rememberModel } from '../choose-model.js';
import { type CliContext, type DefineCommand, type ExitCode, UsageError } from '../cli-context.js';
import { resultAsTyped } from '../display/as-typed.js';
import { createDisplay, isAutomated } from '../display/display.js';
import { createPalette, writeJson } from '../display/terminal-text.js';
import { exitCodeOf } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import {
  addBatchOptions,
  addFormatOption,
  addRunOptions,
  conversationName,
  EXIT_CODES_HELP,
  type ResponseOptions,
} from '../options.js';
import { readSource } from '../read-input.js';
import { recoverLeft } from '../recover-left.js';
import { type ResolvedRun, resolveRun } from '../resolve-settings.js';
import { isPutOff } from '../run-batch.js';
import { toOrigin } from '../waiting-batch.js';

interface ChatOptions extends ResponseOptions, ModelChoice {
  readonly system?: string;
  readonly resume?: string | true;
  readonly print?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Talks with a model that has the tools of this directory. Policy and approval are the same as for run.',
    )
    .argument('[prompt]', 'your first message; without a terminal, the only one')
    .addHelpText(
      'before',
      `Examples:
  toolexec chat --model anthropic/claude-sonnet-4-5
  toolexec chat "What does this project do?" --model openai/gpt-5 --print
  toolexec chat --model openai/qwen3 --base-url http://localhost:11434/v1
  toolexec chat --resume --model gemini/gemini-2.5-pro
`,
    )
    .addHelpText(
      'after',
      `
The key comes from ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY. Ctrl-C once cancels a turn, twice ends; Ctrl-D ends.
At a terminal /help lists what you can type besides words for the model: /undo, /diff, /model, /clear, /resume, !COMMAND.
${EXIT_CODES_HELP}`,
    )
    .option(
      '--system <file>',
      'instructions before the conversation, instead of the directory, platform, date and sandbox',
    )
    .option('--resume [id]', 'continue a conversation; without ID the last one')
    .option('--conversation <id>', 'the name of a new conversation (default: generated)', conversationName)
    .option('--print', 'one turn: write the answer to standard output, and read no further message')
    // An option of `run` without a meaning here: the error explains that.
    .addOption(new Option('--again').hideHelp());
  addRunOptions(addFormatOption(addBatchOptions(addModelOptions(command, 'the model')), FORMAT_HELP)).action(
    async (prompt: string | undefined, options: ChatOptions) => {
      finish(await chat(prompt, options, context));
    },
  );
};

const FORMAT_HELP = 'with --json: the format of the results (default: native)';

/** `toolexec chat`: a conversation with a model, turn by turn, or one turn for a script. */
export async function chat(
  given: string | undefined,
  options: ChatOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env } = context;
  if (options.again === true) {
    throw new UsageError(
      'Cannot chat with --again: every call of a conversation is new, none is answered from the journal. Leave it out.',
    );
  }
  const model = modelOf('chat', options);
  const settled = resolveRun(options, context);
  const isThere =
    stdio.stderr.isTerminal && !isAutomated(env) && (given !== undefined || stdio.stdin.isTerminal);
  const isInteractive = options.print !== true && isThere;
  const { view, report, prompt } = createView(settled, options, isInteractive, context);
  const { display } = view;
  const said = isInteractive || given !== undefined ? given : (await readSource(undefined, stdio)).text;
  if (options.format !== undefined && (isInteractive || options.json !== true)) {
    throw new UsageError(
      'Cannot use --format here: results are written only after one turn, with --json. Add --print --json.',
    );
  }
  if (!isInteractive && (said ?? '').trim() === '') {
    throw new UsageError('Cannot chat: there is nothing to say. Give a prompt, or pipe one in.');
  }
  for (const note of settled.notes) display.note(note);
  const containment = await describeContainment(settled.executor.root, settled.executor.sandbox);
  const system = await systemOf(options, settled, containment, stdio);
  const approver = chooseApprover(options, context, settled.executor);
  const asker = chooseAsker(stdio, env);
  await using executor = await openExecutor({
    ...settled.executor,
    // An unfinished batch may contain a sub-agent.
    agents: modelAgents({ model }),
    ...(approver === undefined ? {} : { approver: holding(display, approver) }),
    ...(asker === undefined ? {} : { asker: holding(display, asker) }),
  });
  try {
    const held = new HeldConversations(executor);
    const conversation = await nameConversation(options, held);
    const journal = settled.executor.journal.path;
    const recover = (id: string): Promise<boolean> => recoverLeft(executor, id, display, journal, context);
    if (await recover(conversation)) return exitCodeOf([], false, true);
    const createLoop = (choice: ModelChoice, id: string): ToolLoop =>
      createToolLoop({
        executor,
        model: choice === options ? model : modelOf('chat', choice),
        conversation: id,
        parallel: options.parallel ?? settled.parallel,
        dryRun: options.dryRun === true,
        failFast: options.failFast === true,
        defer: options.defer === true,
        origin: toOrigin({ format: 'native', errors: [] }, settled.executor.root, rememberModel(choice)),
        ...(system === '' ? {} : { system }),
      });
    const leave = async (): Promise<void> => {
      await Promise.race([
        executor.close(),
        new Promise<void>((done) => systemClock.after(LEAVE_WITHIN_MS, done)),
      ]);
      context.exitNow(exitCodeOf([], true));
    };
    if (isInteractive && report !== undefined) {
      const place = describePlace(settled.executor.root, journal, containment);
      const parts = {
        executor,
        context,
        view,
        report,
        prompt,
        held,
        journal,
        place,
        createLoop,
        recover,
        leave,
      };
      return await new ChatSession(parts, options, conversation).converse(said);
    }
    const loop = createLoop(options, conversation);
    await held.begin(conversation);
    await view.enter(journal, conversation);
    const result = await view.turn(loop, said ?? '', leave);
    view.conclude(result);
    writeAnswer(result, loop, view, options, stdio);
    return codeOf(result);
  } finally {
    await executor.close();
  }
}

const LEAVE_WITHIN_MS = 1000;

/** Only a terminal shows the output and changes of calls, and has keys. */
function createView(
  settled: ResolvedRun,
  options: ChatOptions,
  isInteractive: boolean,
  { stdio, env }: CliContext,
): { readonly view: ChatView; readonly report: CallReport | undefined; readonly prompt: PersonPrompt } {
  const isJson = options.json === true;
  const isDrawn = isInteractive && !isJson;
  const display = createDisplay(stdio.stderr, isJson, env, { isOutputBelow: isDrawn });
  const palette = createPalette(true, env);
  const report = isInteractive
    ? new CallReport({ out: stdio.stderr, palette, journal: settled.executor.journal.path })
    : undefined;
  const prompt = new PersonPrompt(stdio, (letter) => (letter === MORE_KEY ? report?.more() : undefined));
  const ask = (signal: AbortSignal): Promise<string | undefined> => prompt.ask(signal);
  return {
    view: new ChatView({ stdio, display, isJson, palette, report: isDrawn ? report : undefined, ask }),
    report,
    prompt,
  };
}

/** The system text: the file of `--system`, or the known facts about this environment. */
async function systemOf(
  { system }: ChatOptions,
  { executor, chat: { agentsFile = false } }: ResolvedRun,
  containment: Containment,
  stdio: CliContext['stdio'],
): Promise<string> {
  if (system !== undefined) return (await readSource(system, stdio)).text;
  const [root = '.'] = executor.root;
  const instructions = agentsFile ? await projectInstructions(root) : undefined;
  return [
    defaultSystem(executor.root, containment),
    ...(instructions === undefined ? [] : [instructions]),
  ].join('\n\n');
}

async function nameConversation(
  { resume, conversation }: ChatOptions,
  held: HeldConversations,
): Promise<string> {
  if (resume === undefined) return conversation ?? `chat:${randomUUID()}`;
  const named = resume === true ? (await held.ids())[0] : resume;
  if (named === undefined) {
    throw new UsageError('Cannot resume: there is no conversation here. Begin one without --resume.');
  }
  if ((await held.wordsOf(named)) === undefined) {
    throw new UsageError(`Cannot resume "${named}": the journal has no such conversation.`);
  }
  return named;
}

/** For scripts: the answer, or everything as JSON. */
function writeAnswer(
  { text, stopReason, iterations, results, usage, error, cutOff }: LoopResult,
  { conversation }: ToolLoop,
  { clean }: ChatView,
  { json, format = 'native' }: ChatOptions,
  { stdout }: CliContext['stdio'],
): void {
  if (json === true) {
    writeJson(stdout, {
      text,
      stop_reason: stopReason,
      iterations,
      conversation,
      usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
      results: writeResults(format, results.map(resultAsTyped)),
      ...(cutOff === undefined ? {} : { cut_off: cutOff }),
      ...(error === undefined ? {} : { error }),
    });
  } else if (text !== '') stdout.write(`${clean(text).replace(/\n$/, '')}\n`);
}

function codeOf({ stopReason, results }: LoopResult): ExitCode {
  if (stopReason === 'cancelled') return exitCodeOf([], true);
  if (results.some(isPutOff)) return exitCodeOf([], false, true);
  const unasked = results.filter(({ error }) => error?.code === 'approval_unavailable');
  // A failed call is part of the work; a missing answer is a failure.
  if (unasked.length > 0) return exitCodeOf(unasked, false);
  return stopReason === 'end' ? 0 : 1;
}
