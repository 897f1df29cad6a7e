import { addBatchOptions, type BatchOptions } from './batch-options.js';
import type { DefineCommand } from './command-group.js';
import { EXIT_CODES } from './texts.js';

export const defineCall: DefineCommand = (program, context, finish) => {
  const command = program
    .command('call')
    .summary('run one tool by hand')
    .description(
      'Runs one tool and writes its output to standard output. Policy and approval are those of run.',
    )
    .argument('<tool>', 'its name')
    .argument('[json]', 'its arguments, a JSON object; without it, or with -, from standard input')
    .addHelpText(
      'before',
      `Examples:
  toolexec call read_file '{"path":"README.md"}'
  toolexec call bash '{"command":"npm test"}' --yes
  echo '{"path":"."}' | toolexec call list_directory --json
`,
    )
    .addHelpText('after', EXIT_CODES);
  addBatchOptions(command).action(async (name: string, json: string | undefined, options: BatchOptions) => {
    const { callTool } = await import('../commands/call.js');
    finish(await callTool(name, json, options, context));
  });
};
