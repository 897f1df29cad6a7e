import { resolve } from 'node:path';
import type { Approver } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { IssuedCall } from '../../guard/guard-state.js';
import { sanitize } from '../../output/sanitize.js';
import { systemClock } from '../../platform/clock/clock.js';
import { attachedCommandTool } from '../attached-command.js';
import type { CliContext, DefineCommand, RunPlain } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { commandExitCode } from '../exit-code.js';
import { guardState } from '../guard-world.js';
import { openExecutor } from '../open-executor.js';
import { resolveRun } from '../resolve-settings.js';
import { watchInterrupts } from '../watch-interrupts.js';

interface ExecOptions {
  readonly call: string;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs one command that toolexec hook has let through, in a transaction. Its output and exit code are unchanged, and its ' +
        'changes are checked and committed when it has ended. Refused changes are reported on standard error.',
    )
    .argument('<command...>', 'the command line, as one word after --')
    .requiredOption('--call <id>', 'the id from the hook')
    .addHelpText('before', "Examples:\n  toolexec exec --call toolu_01 -- 'npm test'\n")
    .addHelpText(
      'after',
      '\nExit code: that of the command; 1 if its changes were not kept; 2 if nothing was run, and standard error says why.\n',
    )
    .action(async (words: readonly string[], options: ExecOptions) => {
      finish(await runIssued(words.join(' '), options, context));
    });
};

export const runPlain: RunPlain = ([option, call, dashes, ...command], context) =>
  option === '--call' && call !== undefined && dashes === '--' && command.length > 0
    ? runIssued(command.join(' '), { call }, context)
    : undefined;

/** `toolexec exec`. */
async function runIssued(command: string, { call }: ExecOptions, context: CliContext): Promise<number> {
  const state = guardState();
  const issued = state.issued(call);
  if (issued === undefined)
    throw new UsageError(
      `Cannot run call ${JSON.stringify(call)}: no hook has let it through. Run the command itself.`,
    );
  if (issued.command !== command)
    throw new UsageError(
      `Cannot run call ${JSON.stringify(call)}: the hook has let through another command. Run the command itself.`,
    );
  state.arrived(call);
  if (issued.how === 'rewrite') state.learn(issued.agent, issued.version, 'arrives', systemClock.now());
  return runContained(issued, context);
}

/** About 24.8 days: the agent ends a command that takes too long. */
const LONGEST_MS = 2 ** 31 - 1;

async function runContained(issued: IssuedCall, context: CliContext): Promise<number> {
  const { stdio } = context;
  const { executor: options } = resolveRun({ cwd: issued.root }, context);
  const approval = options.builtins?.bash?.approval;
  const tool = attachedCommandTool({
    name: 'bash',
    aliases: ['Bash'],
    attached: { kind: 'streams', isAttended: false },
    ...(approval === undefined ? {} : { approval }),
  });
  await using executor = await openExecutor({
    ...options,
    tools: [tool],
    sandbox: { ...options.sandbox, os: 'required', transactions: 'required' },
    approver: agreedBefore(issued),
  });
  await recoverEarlier(executor, issued);
  const args = { command: issued.command, shell: 'bash', working_dir: resolve(issued.cwd) };
  const run = executor.start([{ id: issued.id, name: tool.name, args }], {
    conversation: issued.session,
    timeoutMs: LONGEST_MS,
  });
  const interrupts = watchInterrupts(stdio, { first: () => run.cancel(), second: () => {} });
  try {
    const [result] = await run.results;
    if (result === undefined) throw new Error('a batch of one call has one result');
    for (const line of [...noticesOf(result), ...lostDirectory(issued, result)])
      stdio.stderr.write(`${sanitize(`[toolexec: ${line}]`, 'inline')}\n`);
    return interrupts.happened() ? 130 : exitCodeFor(result);
  } finally {
    interrupts.stop();
  }
}

/** The hook, or the person asked by the agent, has agreed to the command. No person has agreed to changes beyond it. */
function agreedBefore({ isAsked }: IssuedCall): Approver {
  return (requests) => {
    const beyond = requests.flatMap(({ unexpected = [] }) => unexpected);
    if (beyond.length === 0)
      return { kind: 'approve_all', by: isAsked ? 'the person, asked by the agent' : 'toolexec hook' };
    const named = beyond.slice(0, 5).join(', ');
    throw new Error(
      `it changed ${named}${beyond.length > 5 ? ' and more' : ''}, which no rule and no person has allowed. Change it with a file tool, so that the person can be asked`,
    );
  };
}

/**
 * An earlier command of the session that a crash interrupted must not block later ones: it gets a result that states
 * what is known.
 */
async function recoverEarlier(executor: Executor, { session }: IssuedCall): Promise<void> {
  for (const { batchId, conversation, waits, waitsFor } of await executor.recover())
    if (conversation === session && waits && waitsFor === 'recovery')
      await executor.decide(batchId, 'resume');
}

function noticesOf({ error, metadata, output }: ToolResult): readonly string[] {
  const lines = [...(metadata.replayed === true ? ['this call has run before, and nothing ran now'] : [])];
  if (output !== '') lines.push(...output.split('\n').filter((line) => line !== ''));
  if (error === undefined || metadata.exit_code === undefined || error.code !== 'execution_failed') {
    if (error !== undefined) lines.push(error.message);
  }
  return lines.map((line) => line.replace(/^\[(.*)\]$/, '$1'));
}

/** Claude Code keeps the directory of its shell between commands. */
function lostDirectory({ agent, command }: IssuedCall, { success }: ToolResult): readonly string[] {
  if (agent !== 'claude-code' || !success || !/(?:^|[;&|]\s*)cd\s/.test(command)) return [];
  return ['cd inside a command has no lasting effect: give cd as a separate command'];
}

function exitCodeFor(result: ToolResult): number {
  const { metadata, error } = result;
  const code = commandExitCode(metadata);
  if (code !== undefined && code !== 0) return code;
  if (error === undefined) return 0;
  return metadata.exit_code === undefined ? 2 : 1;
}
