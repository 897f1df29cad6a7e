import { resolve } from 'node:path';
import type { ToolContext } from '../../contract/context.js';
import type { JsonObject } from '../../contract/json.js';
import type { CommandOutcome } from '../../contract/processes.js';
import type { ToolOutput } from '../../contract/tool.js';
import { commandError, commandMetadata, isIncomplete, printedText, streamText, withNotice } from '../command-report.js';
import { started } from '../started.js';
import { wallMetadata } from '../wall-report.js';
import type { BashArgs } from './bash-tool.js';
import { shortenOutput } from './shorten-output.js';

export function runBash(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  return args.run_in_background === true ? startShell(args, ctx) : runToItsEnd(args, ctx);
}

async function startShell(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  const { id, cwd, status, wall } = await started(
    ctx.processes.startShell({
      ...commandOf(args),
      ...(args.timeout === undefined ? {} : { timeoutMs: args.timeout }),
    }),
  );
  return {
    text:
      status === 'killed'
        ? `Background shell ${id} was ended at once: the call was stopped while it started.`
        : `Started background shell ${id}. Read its output with bash_output, end it with kill_shell.`,
    metadata: {
      bash_id: id,
      status,
      working_dir: cwd,
      ...saidBy(args),
      ...(wall === undefined ? {} : wallMetadata({ wall })),
    },
  };
}

async function runToItsEnd(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  const outcome = await started(ctx.processes.run({ ...commandOf(args), clean: true }));
  const { outputRef } = outcome;
  const printed = printedText(streamText(outcome.stdout), streamText(outcome.stderr));
  const short = shortenOutput(printed, printedBytes(outcome), outputRef);
  const truncated = short.truncated || isIncomplete(outcome);
  const shown = {
    text: withNotice(short.text, outcome),
    truncated,
    metadata: {
      ...commandMetadata(outcome, resolve(ctx.cwd, args.working_dir ?? '.')),
      truncated,
      ...saidBy(args),
    },
    ...(outputRef === undefined ? {} : { outputRef }),
  };
  const error = commandError(outcome, failureMessage);
  return error === undefined ? shown : { ...shown, error };
}

function commandOf({ command, working_dir: cwd }: BashArgs) {
  return { shell: 'bash', command, ...(cwd === undefined ? {} : { cwd }) } as const;
}

function saidBy({ command, description }: BashArgs): JsonObject {
  return { command, ...(description === undefined ? {} : { description }) };
}

function failureMessage(reason: string): string {
  return reason.startsWith('exit code') ? `Command failed with ${reason}` : `Command failed: ${reason}`;
}

/** Everything that was printed, where not all of it was kept; undefined when the kept text is the whole. */
function printedBytes({ stdout, stderr }: CommandOutcome): number | undefined {
  if (stdout.omittedBytes + stderr.omittedBytes === 0) return undefined;
  return stdout.totalBytes + stderr.totalBytes;
}
