import { addResponseOptions, type ResponseOptions } from './batch-options.js';
import type { DefineCommand } from './command-group.js';
import { FORMATS } from './texts.js';

export const definePlan: DefineCommand = (program, context, finish) => {
  const command = program
    .command('plan')
    .summary('say what would happen, touch nothing')
    .description(
      'Says for every call whether it would be run, asked about or refused, and why. Touches and records nothing. ' +
        'Takes the options of run, so that one can be turned into the other.',
    )
    .argument('[file]', 'the response')
    .addHelpText(
      'before',
      `Examples:
  toolexec plan response.json
  toolexec plan response.json --config toolexec.toml --json
`,
    )
    .addHelpText('after', FORMATS);
  addResponseOptions(command).action(async (file: string | undefined, options: ResponseOptions) => {
    const { planResponse } = await import('../commands/plan.js');
    finish(await planResponse(file, options, context));
  });
};
