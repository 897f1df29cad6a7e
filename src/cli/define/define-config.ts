import type { DefineCommand } from './command-group.js';

/** What `config` commands take, as commander hands it over. */
export interface ShowConfigOptions {
  readonly config?: string;
  readonly origin?: boolean;
  readonly json?: boolean;
}

export interface TrustOptions {
  readonly revoke?: boolean;
  readonly json?: boolean;
}

export const defineConfig: DefineCommand = (program, context, finish) => {
  const config = program
    .command('config')
    .summary('what is configured, and by whom')
    .addHelpText(
      'before',
      `Examples:
  toolexec config show --origin
  toolexec config trust
  toolexec config schema > toolexec.schema.json
`,
    );
  config
    .command('show')
    .summary('every setting as it holds here')
    .description(
      'Writes every setting as a toolexec.toml that says the same. Options of the command beat TOOLEXEC_* variables, ' +
        "which beat the project's file, which beats the user's, which beats the default.",
    )
    .option('--config <file>', "a toolexec.toml instead of the project's")
    .option('--origin', 'where each setting comes from')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec config show\n  toolexec config show --origin --json\n')
    .action(async (options: ShowConfigOptions) => {
      const { showConfig } = await import('../commands/config/show.js');
      finish(showConfig(options, context));
    });
  config
    .command('trust')
    .summary("let a project's toolexec.toml loosen what it says it loosens")
    .description(
      "A project's file may only tighten, because a cloned repository is not trusted. This records the hash of the " +
        'file as it is now: when it changes, it has to be trusted again.',
    )
    .argument('[file]', "the file (default: the project's toolexec.toml)")
    .option('--revoke', 'trust it no longer')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec config trust\n  toolexec config trust --revoke\n')
    .action(async (file: string | undefined, options: TrustOptions) => {
      const { trustConfig } = await import('../commands/config/trust.js');
      finish(trustConfig(file, options, context));
    });
  config
    .command('schema')
    .summary('a JSON Schema of toolexec.toml, for editors')
    .addHelpText('before', 'Examples:\n  toolexec config schema > toolexec.schema.json\n')
    .action(async () => {
      const { writeConfigSchema } = await import('../commands/config/schema.js');
      finish(writeConfigSchema(context));
    });
};
