import type { AttachedStreams } from '../../contract/processes.js';
import type { Tool } from '../../contract/tool.js';
import { defineOwnTool } from '../../executor/declare/define-tool.js';
import { commandError, commandMetadata, probeCommand, started } from '../../tools/command-report.js';

interface TriedCommand {
  readonly command: string;
  readonly shell: 'sh' | 'bash';
  /** Absolute, inside of a root. */
  readonly working_dir: string;
}

/** A command of the person's own: on the person's own streams, asked about when it has ended, whatever it reaches. */
export function tryTool(attached: AttachedStreams): Tool {
  return defineOwnTool<TriedCommand>({
    name: 'try',
    title: 'Try a command',
    description: 'Runs a command of the person as a transaction.',
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
    approval: 'after_online',
    maxArgsBytes: 1_000_000,
    touches: ['run'],
    effects: ({ command, shell, working_dir: cwd }) => [{ kind: 'run', command, shell, cwd }],
    summarize: ({ command }) => `Try: ${command}`,
    async execute({ command, shell, working_dir: cwd }, { processes }) {
      const outcome = await started(processes.run({ command, shell, cwd, attached, keepsRest: true }));
      const error = commandError(outcome, (reason) => reason);
      return {
        text: '',
        metadata: { ...commandMetadata(outcome, cwd), command },
        ...(error === undefined ? {} : { error }),
      };
    },
    probe: probeCommand,
  });
}
