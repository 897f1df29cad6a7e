import { addResponseOptions, type ResponseOptions } from './batch-options.js';
import type { DefineCommand } from './command-group.js';
import { EXIT_CODES, FORMATS } from './texts.js';

export const defineRun: DefineCommand = (program, context, finish) => {
  const command = program
    .command('run')
    .summary('run the calls of a response')
    .description('Runs the calls of a response and writes their results to standard output, in kind.')
    .argument('[file]', 'the response')
    .addHelpText(
      'before',
      `Examples:
  toolexec run response.json
  toolexec run response.json --root ./workspace --yes
  toolexec run response.json --approve toolu_01 --approve toolu_03
  curl -s … | toolexec run --format native
`,
    )
    .addHelpText('after', `${FORMATS}${EXIT_CODES}`);
  addResponseOptions(command).action(async (file: string | undefined, options: ResponseOptions) => {
    const { runResponse } = await import('../commands/run.js');
    finish(await runResponse(file, options, context));
  });
};
