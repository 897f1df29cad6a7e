import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import type { ToolResult } from '../../contract/call.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { asDecided } from '../../executor/record/attach.js';
import { findConversations } from '../../journal/open-archive.js';
import { openJournal } from '../../journal/open-journal.js';
import { createDigest } from '../../journal/redaction/journal-secret.js';
import { hasArguments } from '../../journal/redaction/redacting-journal.js';
import { sanitize } from '../../output/sanitize.js';
import { HISTORY_FORMATS, type HistoryFormat } from '../../providers/registry.js';
import type { HistoryChange } from '../../providers/repair/change.js';
import type { FindResult } from '../../providers/repair/repair-history.js';
import { type RepairedHistory, repairHistory } from '../../providers/repair/repair-history.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { toSafeJson } from '../display/terminal-text.js';
import { conversationName } from '../options.js';
import { readSource } from '../read-input.js';
import type { JournalChoice } from '../recorded-journal.js';
import { isRecorded, recordedJournal } from '../recorded-journal.js';

/** The options of `repair`, in commander's form. */
interface RepairCommandOptions extends JournalChoice {
  readonly conversation?: string;
  readonly format?: HistoryFormat;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Writes the conversation with exactly one result for every call, where the provider expects it: its first ' +
        'real result, else the one in the journal, else an honest "outcome unknown". Calls and texts stay. A valid ' +
        'conversation comes back byte for byte; changes are reported on standard error.',
    )
    .argument('[file]', 'the conversation: a list of messages, or a whole request body')
    .option('--journal <file>', 'where results are looked up (default: the journal of run)')
    .option(
      '--conversation <id>',
      'the conversation of the calls (default: any with the same call)',
      conversationName,
    )
    .option('--root <dir...>', 'the directories whose journal is used, if none is named (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .addOption(
      new Option('--format <format>', 'the format of the conversation (default: detected)').choices(
        HISTORY_FORMATS,
      ),
    )
    .option('--json', 'the changes as one JSON array')
    .addHelpText(
      'before',
      `Examples:
  toolexec repair messages.json > mended.json
  toolexec repair request.json --journal calls.db --conversation c1
  cat messages.json | toolexec repair --json
`,
    )
    .addHelpText('after', '\nExit code: 0 it is valid now; 2 wrong usage or input.\n')
    .action(async (file: string | undefined, options: RepairCommandOptions) => {
      finish(await repairConversation(file, options, context));
    });
};

/**
 * `toolexec repair`: reads a conversation and writes it in valid form. @throws UsageError if it is not one.
 */
export async function repairConversation(
  source: string | undefined,
  options: RepairCommandOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  const journal = recordedJournal(options, context);
  const { name, text } = await readSource(source, context.stdio, true);
  const { history, changes } = await repair(name, text, journal, options);
  // Untrusted text must not control a terminal.
  stdout.write(
    stdout.isTerminal ? `${toSafeJson(JSON.parse(history.replace(/^\ufeff/, '')), 2)}\n` : history,
  );
  stderr.write(options.json === true ? `${toSafeJson(changes)}\n` : describe(changes));
  return 0;
}

async function repair(
  name: string,
  text: string,
  journal: string | undefined,
  { conversation, format }: RepairCommandOptions,
): Promise<RepairedHistory<string>> {
  const isFound = journal !== undefined && isRecorded(journal);
  const recorded = isFound ? findRecorded(journal, conversation) : undefined;
  try {
    return await repairHistory(text, {
      ...(format === undefined ? {} : { format }),
      ...(recorded === undefined ? {} : { find: recorded.find }),
    });
  } catch (error) {
    if (isToolError(error, 'config_invalid')) {
      const problem = error.message.replace(/^Cannot repair the history: /, '');
      throw new UsageError(`Cannot repair ${name}: ${problem}`, { cause: error });
    }
    if (isToolError(error, 'journal_unavailable')) throw new UsageError(error.message, { cause: error });
    throw error;
  } finally {
    await recorded?.close();
  }
}

function describe(changes: readonly HistoryChange[]): string {
  const lines = changes.map(({ at, message }) => `toolexec: [${at}] ${sanitize(message, 'inline')}\n`);
  return lines.length === 0 ? 'toolexec: nothing to mend\n' : lines.join('');
}

interface RecordedResults {
  find(...call: Parameters<FindResult>): Promise<ToolResult | undefined>;
  close(): Promise<void>;
}

/**
 * Looks up results in a journal's file: in one conversation, or, if that is not known, in all with a call of
 * that id, name and arguments. A made-up id names no call: every call of the conversation with a made-up id,
 * that name and these arguments may be meant. Then a result is returned only if all of them have the same.
 */
function findRecorded(path: string, conversation: string | undefined): RecordedResults {
  const journal = openJournal(path);
  const digest = createDigest(path);
  return {
    async find(callId, toolName, args, madeUp) {
      const names = conversation === undefined ? findConversations(path, callId) : [conversation];
      const found: (ToolResult | undefined)[] = [];
      for (const name of names) {
        const record = await journal.find(name, callId);
        // If the call with this id has no result, or differs, a call of another conversation may match.
        const named = record?.result === undefined ? [] : [record];
        const meant = madeUp ? [...named, ...(await findMadeUp(journal, name))] : named;
        for (const one of meant) {
          if (one.toolName !== toolName || !hasArguments(one, args, digest)) continue;
          found.push(one.result === undefined ? undefined : asDecided(one, one.result));
        }
      }
      const [first, ...rest] = found;
      // With different answers, or a missing one, the id does not identify a call.
      return rest.every((other) => isSameAnswer(first, other)) ? first : undefined;
    },
    close: async () => journal.close(),
  };
}

async function findMadeUp(journal: Journal, conversation: string): Promise<readonly CallRecord[]> {
  const batches = await journal.batches({ conversation });
  const calls = await Promise.all(batches.map(({ id }) => journal.batch(id)));
  return calls.flat().filter(({ madeUp }) => madeUp === true);
}

function isSameAnswer(one: ToolResult | undefined, other: ToolResult | undefined): boolean {
  return one?.output === other?.output && isDeepStrictEqual(one?.error, other?.error);
}
