import { Option } from 'commander';
import type { HistoryFormat } from '../../protocols/registry.js';
import type { JournalChoice } from '../recorded-journal.js';
import type { DefineCommand } from './command-group.js';

/** What `repair` takes, as commander hands it over. */
export interface RepairCommandOptions extends JournalChoice {
  readonly conversation?: string;
  readonly format?: HistoryFormat;
  readonly json?: boolean;
}

const FORMATS = ['anthropic', 'openai', 'openai-responses', 'gemini', 'native'];

export const defineRepair: DefineCommand = (program, context, finish) => {
  program
    .command('repair')
    .summary('mend a conversation whose calls and results no longer match')
    .description(
      'Writes the conversation with exactly one result for every call, where the provider looks for it: its first ' +
        'real one, else the one in the journal, else an honest "outcome unknown". Calls and texts stay. What was sound ' +
        'comes back byte for byte; what was changed is told on standard error.',
    )
    .argument('[file]', 'the conversation: a list of messages, or a whole request body')
    .option('--journal <file>', 'where results are looked up (default: the journal of run)')
    .option('--conversation <id>', 'whose calls they are (default: any with the same call)')
    .option('--root <dir...>', 'whose journal it is, where none is named (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .addOption(
      new Option('--format <format>', 'what it is written in (default: as it looks)').choices(FORMATS),
    )
    .option('--json', 'what was changed as one JSON array')
    .addHelpText(
      'before',
      `Examples:
  toolexec repair messages.json > mended.json
  toolexec repair request.json --journal calls.db --conversation c1
  cat messages.json | toolexec repair --json
`,
    )
    .addHelpText('after', '\nExit code: 0 it is sound now; 2 wrong usage or input.\n')
    .action(async (file: string | undefined, options: RepairCommandOptions) => {
      const { repairConversation } = await import('../commands/repair.js');
      finish(await repairConversation(file, options, context));
    });
};
