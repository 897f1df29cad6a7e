import { type Command, InvalidArgumentError } from 'commander';
import type { JournalChoice } from '../recorded-journal.js';
import type { DefineCommand } from './command-group.js';

/** What `journal` commands take, as commander hands it over. */
export interface JournalQueryOptions extends JournalChoice {
  readonly json?: boolean;
}

export interface JournalListOptions extends JournalQueryOptions {
  readonly conversation?: string;
  readonly limit?: number;
}

export interface JournalVerifyOptions extends JournalQueryOptions {
  readonly accept?: boolean;
}

export interface JournalExportOptions extends JournalChoice {
  readonly conversation?: string;
}

export interface JournalPruneOptions extends JournalQueryOptions {
  /** Milliseconds. */
  readonly olderThan?: number;
  /** Bytes. */
  readonly maxSize?: number;
  readonly dryRun?: boolean;
}

/** The commands of the group `journal` that look, and the one that tidies up. */
export const defineJournalQueries: DefineCommand = (journal, context, finish) => {
  addChoice(journal.command('list'))
    .summary('batches, newest first')
    .option('--conversation <id>', 'only of this conversation')
    .option('--limit <count>', 'at most so many (default: 20; with --json all)', parseCount)
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec journal list\n  toolexec journal list --limit 5 --json\n')
    .action(async (options: JournalListOptions) => {
      const { listBatches } = await import('../commands/journal/list.js');
      finish(await listBatches(options, context));
    });
  addChoice(journal.command('show'))
    .summary('a batch, a call or a conversation: calls, effects, approvals, notes and results')
    .argument('<id>', 'the id of a batch, of a call or of a conversation, or 8 characters or more of a batch')
    .option('--json', 'as JSON, nothing shortened')
    .addHelpText('before', 'Examples:\n  toolexec journal show toolu_01\n  toolexec journal show c1 --json\n')
    .action(async (id: string, options: JournalQueryOptions) => {
      const { showRecorded } = await import('../commands/journal/show.js');
      finish(await showRecorded(id, options, context));
    });
  addChoice(journal.command('export'))
    .summary('everything as JSON lines')
    .description(
      'Writes one JSON object a line: conversation, message, batch, call, repeat, note, decision. The call lines are ' +
        'what createTape of toolexec/testing answers from.',
    )
    .option('--conversation <id>', 'only this conversation')
    .addHelpText('before', 'Examples:\n  toolexec journal export > calls.jsonl\n')
    .action(async (options: JournalExportOptions) => {
      const { exportJournal } = await import('../commands/journal/export.js');
      finish(await exportJournal(options, context));
    });
  addChoice(journal.command('verify'))
    .summary('whether every record is as it was written')
    .option('--accept', 'a journal that was restored or removed on purpose: what it has lost is accepted')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec journal verify\n  toolexec journal verify --accept\n')
    .addHelpText('after', '\nExit code: 0 it is intact; 1 a record was changed, removed, moved or lost.\n')
    .action(async (options: JournalVerifyOptions) => {
      const { checkJournalChain } = await import('../commands/journal/verify.js');
      finish(await checkJournalChain(options, context));
    });
  definePrune(journal, context, finish);
};

const definePrune: DefineCommand = (journal, context, finish) => {
  addChoice(journal.command('prune'))
    .summary('take out what is old')
    .description(
      'Takes out batches that are settled, oldest first, by age, by size or both. What is gone is forgotten: such a ' +
        'call runs again when it is delivered again. Unsettled calls and the newest batch stay.',
    )
    .option('--older-than <age>', 'what was settled before: 30d, 12h, 90m, 45s', parseAge)
    .option('--max-size <size>', 'the oldest, until the rest has at most: 100MB, 500KB, 1GB', parseSize)
    .option('--dry-run', 'say what would go, take out nothing')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal prune --older-than 30d --dry-run\n  toolexec journal prune --max-size 100MB\n',
    )
    .action(async (options: JournalPruneOptions) => {
      const { pruneRecords } = await import('../commands/journal/prune.js');
      finish(await pruneRecords(options, context));
    });
};

function addChoice(command: Command): Command {
  return command
    .option('--journal <file>', 'the journal (default: the one that run would use)')
    .option('--root <dir...>', 'whose journal it is, where none is named (default: .)')
    .option('--config <file>', 'a toolexec.toml');
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1.');
}

const MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function parseAge(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  const ms = MS[unit];
  if (count !== undefined && ms !== undefined) return Number(count) * ms;
  throw new InvalidArgumentError('Write a number and s, m, h, d or w: 30d.');
}

const BYTES: Readonly<Record<string, number>> = { '': 1, K: 1000, M: 1e6, G: 1e9 };
const BINARY: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

function parseSize(text: string): number {
  const [, count, unit = '', binary] = /^(\d+(?:\.\d+)?) ?([KMG]?)(i?)B?$/i.exec(text) ?? [];
  const factor = (binary === '' ? BYTES : BINARY)[unit.toUpperCase()];
  if (count !== undefined && factor !== undefined) return Math.floor(Number(count) * factor);
  throw new InvalidArgumentError('Write a number and B, KB, MB or GB: 100MB.');
}
