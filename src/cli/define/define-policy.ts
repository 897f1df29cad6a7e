import type { DefineCommand } from './command-group.js';

/** What `policy` commands take, as commander hands it over. */
export interface PolicyOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
}

/** What those take that read what was recorded. */
export interface PolicyRecordOptions extends PolicyOptions {
  readonly journal?: string;
}

export const definePolicy: DefineCommand = (program, context, finish) => {
  const policy = program
    .command('policy')
    .summary('why a call is run, asked about or refused')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy explain '{"name":"bash","args":{"command":"git push"}}'
  toolexec policy check --config toolexec.toml
  toolexec policy replay calls.jsonl --config new.toml
  toolexec policy suggest calls.jsonl >> toolexec.toml
`,
    );
  policy
    .command('explain')
    .summary('the decision about a call, the rule that made it, and why no other did')
    .argument('<call>', 'one {"name","args"}, an array of them, or - for standard input')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy explain '{"name":"read_file","args":{"path":".env"}}'
  toolexec policy explain - --json < response.json
`,
    )
    .action(async (call: string, options: PolicyOptions) => {
      const { explainCalls } = await import('../commands/policy/explain.js');
      finish(await explainCalls(call, options, context));
    });
  policy
    .command('check')
    .summary('whether the rules hold their own examples, and each of them can matter')
    .description(
      'Reads the configuration, tries every rule on its own examples, and tells rules that can never match or that ' +
        'another always decides over.',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec policy check\n  toolexec policy check --config toolexec.toml --json\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 all is well; 1 a rule does nothing; 2 the configuration cannot be used.\n',
    )
    .action(async (options: PolicyOptions) => {
      const { checkPolicy } = await import('../commands/policy/check.js');
      finish(checkPolicy(options, context));
    });
  defineReplay(policy, context, finish);
  defineSuggest(policy, context, finish);
};

const RECORDED =
  'a journal, its export (JSON lines), a response, or - for standard input (default: the journal)';
const JOURNAL = 'the journal, where no file is named (default: the one that run would use)';

const defineReplay: DefineCommand = (policy, context, finish) => {
  policy
    .command('replay')
    .summary('what would be done with recorded calls as the configuration stands')
    .description(
      'Judges the calls of a journal, its export, or of a response of a model, and tells those that would be decided ' +
        'otherwise than they were. Touches nothing.',
    )
    .argument('[file]', RECORDED)
    .option('--journal <file>', JOURNAL)
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy replay
  toolexec policy replay calls.jsonl
  toolexec journal export | toolexec policy replay - --config stricter.toml
`,
    )
    .action(async (file: string | undefined, options: PolicyRecordOptions) => {
      const { replayCalls } = await import('../commands/policy/replay.js');
      finish(await replayCalls(file, options, context));
    });
};

const defineSuggest: DefineCommand = (policy, context, finish) => {
  policy
    .command('suggest')
    .summary('rules for what has been approved before')
    .description(
      'Reads the calls of a journal, or of its export, and writes a rule for each that went well and would be asked about ' +
        'again: the very command, file or host, never what removes or is not understood.',
    )
    .argument('[file]', RECORDED)
    .option('--journal <file>', JOURNAL)
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec policy suggest >> toolexec.toml
  toolexec journal export | toolexec policy suggest > rules.toml
`,
    )
    .action(async (file: string | undefined, options: PolicyRecordOptions) => {
      const { suggestRules } = await import('../commands/policy/suggest.js');
      finish(await suggestRules(file, options, context));
    });
};
