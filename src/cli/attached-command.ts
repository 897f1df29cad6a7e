import type { AttachedStreams } from '../contract/processes.js';
import type { ApprovalTime, Tool } from '../contract/tool.js';
import { defineOwnTool } from '../executor/declare/define-tool.js';
import { changeNotices } from '../tools/command-changes.js';
import {
  commandError,
  commandMetadata,
  probeCommand,
  sandboxNotice,
  started,
} from '../tools/command-report.js';

interface AttachedArgs {
  readonly command: string;
  readonly shell: 'sh' | 'bash';
  /** Absolute, inside a root. */
  readonly working_dir: string;
}

export interface AttachedCommandOptions {
  /** The name of the tool in rules. */
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly attached: AttachedStreams;
  readonly approval?: ApprovalTime;
  /** Changes that are not permitted are left out, and the rest is committed. */
  readonly keepsRest?: boolean;
}

/**
 * A command on this program's standard streams. Its result contains only text that the command has not printed itself.
 */
export function attachedCommandTool({
  name,
  aliases = [],
  attached,
  approval,
  keepsRest = false,
}: AttachedCommandOptions): Tool {
  return defineOwnTool<AttachedArgs>({
    name,
    aliases,
    description: 'Runs a command on the streams of this program, as a transaction.',
    input: {
      type: 'object',
      required: ['command', 'shell', 'working_dir'],
      properties: {
        command: { type: 'string' },
        shell: { enum: ['sh', 'bash'] },
        working_dir: { type: 'string' },
      },
    },
    category: 'execution',
    contained: true,
    background: false,
    requiresApproval: true,
    ...(approval === undefined ? {} : { approval }),
    maxArgsBytes: 1_000_000,
    touches: ['run'],
    effects: ({ command, shell, working_dir: cwd }) => [{ kind: 'run', command, shell, cwd }],
    summarize: ({ command }) => `Run: ${command}`,
    async execute({ command, shell, working_dir: cwd }, { processes }) {
      const outcome = await started(processes.run({ command, shell, cwd, attached, keepsRest }));
      const error = commandError(outcome, (reason) => reason);
      return {
        text: [sandboxNotice(outcome.sandbox), ...changeNotices(outcome)]
          .filter((line) => line !== '')
          .join('\n'),
        metadata: { ...commandMetadata(outcome, cwd), command },
        ...(error === undefined ? {} : { error }),
      };
    },
    probe: probeCommand,
  });
}
