import type { Command } from 'commander';
import {
  addBatchOptions,
  addResponseOptions,
  type BatchOptions,
  type ResponseOptions,
} from './batch-options.js';
import type { ExitCode } from './exit-code.js';
import type { Surroundings } from './surroundings.js';

type Finish = (code: ExitCode) => void;

const FORMATS = `
FILE is a response of Anthropic, OpenAI (chat completions or responses) or Gemini, one {"id","name","args"} or an
array of them, or text with \`\`\`tool blocks. Without FILE, or with -, it is read from standard input.
`;

const EXIT_CODES = `
Exit code: 0 every call succeeded, or there was none; 1 at least one failed; 2 wrong usage, input or configuration;
3 approval needed and nobody to ask; 130 interrupted.
`;

export function addRun(program: Command, surroundings: Surroundings, finish: Finish): void {
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
    const { runResponse } = await import('./commands/run.js');
    finish(await runResponse(file, options, surroundings));
  });
}

export function addPlan(program: Command, surroundings: Surroundings, finish: Finish): void {
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
    const { planResponse } = await import('./commands/plan.js');
    finish(await planResponse(file, options, surroundings));
  });
}

export function addCall(program: Command, surroundings: Surroundings, finish: Finish): void {
  const command = program
    .command('call')
    .summary('run one tool by hand')
    .description(
      'Runs one tool and writes its output to standard output. Policy and approval are those of run.',
    )
    .argument('<name>', 'the tool')
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
    const { callTool } = await import('./commands/call.js');
    finish(await callTool(name, json, options, surroundings));
  });
}
