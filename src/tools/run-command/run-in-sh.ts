import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput } from '../../contract/tool.js';
import { commandError, commandMetadata, isIncomplete, streamText, withNotice } from '../command-report.js';
import { started } from '../started.js';
import type { RunCommandArgs } from './run-command-tool.js';

export async function runInSh(args: RunCommandArgs, ctx: ToolContext): Promise<ToolOutput> {
  const outcome = await started(ctx.processes.run({ shell: 'sh', command: args.command, clean: true }));
  const stdout = streamText(outcome.stdout);
  const stderr = streamText(outcome.stderr);
  const text = withNotice(stderr === '' ? stdout : `${stdout}\n\n[stderr]\n${stderr}`, outcome);
  const metadata = commandMetadata(outcome, ctx.cwd);
  const error = commandError(outcome, (reason) => `run_command failed: ${reason}`);
  const { outputRef } = outcome;
  const shown = {
    text,
    truncated: isIncomplete(outcome),
    metadata,
    ...(outputRef === undefined ? {} : { outputRef }),
  };
  return error === undefined ? shown : { ...shown, error };
}
