import type { Configuration } from '../../../config/configuration.js';
import type { ExternalToolInfo } from '../../../contract/external.js';
import type { Tool } from '../../../contract/tool.js';
import { builtinTools } from '../../../executor/builtin-tools.js';
import { sanitize } from '../../../output/sanitize.js';
import { createPolicy } from '../../../policy/create-policy.js';
import { drawTable } from '../../../terminal/draw-table.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createPalette, roomOn, writeJson } from '../../display/terminal-text.js';
import { openExternal } from '../../open-executor.js';
import { addJournalOptions } from '../../options.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { resolveNoted } from '../../resolve-settings.js';
import { listMetrics } from './list-metrics.js';

/** The options of the `tools` commands, in commander's form. */
interface ToolsOptions extends JournalChoice {
  readonly json?: boolean;
  readonly metrics?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .option('--metrics', 'from the journal: how often each tool ran, how long it took and why it failed')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec tools list\n  toolexec tools list --json\n  toolexec tools list --metrics\n',
    )
    .action(async (options: ToolsOptions) => {
      finish(await listTools(options, context));
    });
};

/** `toolexec tools list`: every tool of the command, including configured programs. */
export async function listTools(options: ToolsOptions, context: CliContext): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  if (options.metrics === true) return listMetrics(options, context);
  const { offered, external } = await offeredTools(resolveNoted(options, context).configuration);
  if (options.json === true) {
    writeJson(stdout, [
      ...offered.map((one) => toJson(one, external)),
      ...external.filter(({ status }) => status === 'error').map(toBroken),
    ]);
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, context.env);
  const rows = offered.map(({ tool, consent }) => [
    tool.name,
    tool.category,
    consent,
    firstSentence(tool.description),
  ]);
  const head = ['TOOL', 'KIND', 'CONSENT', 'WHAT IT DOES'];
  stdout.write(drawTable({ head, rows, columns: roomOn(stdout, context.env), palette }));
  for (const note of external.flatMap(notesOn)) stderr.write(`toolexec: ${note}\n`);
  return 0;
}

/** Notes for the person about a program. */
function notesOn({ name, path, status, errorMessage, changed }: ExternalToolInfo): string[] {
  const shown = `${name} (${path})`;
  const notes = errorMessage === undefined ? [] : [`${shown} is ${status}: ${errorMessage}`];
  if (changed !== undefined)
    notes.push(
      `${shown}: its ${changed.join(' and ')} changed since it was approved. Look at it, then: toolexec tools approve ${name}`,
    );
  return notes.map((note) => sanitize(note, 'inline'));
}

function toBroken({ name, path, status, errorMessage }: ExternalToolInfo): unknown {
  return { name, category: 'external', consent: 'refused', path, status, errorMessage };
}

function toJson({ tool, consent, reason }: OfferedTool, external: readonly ExternalToolInfo[]): unknown {
  const { name, title, aliases, category, description } = tool;
  const found = external.find((one) => one.name === name && one.status !== 'error');
  const more =
    category === 'external' && found !== undefined
      ? (({ path, version, status, errorMessage, changed, trusted }) => ({
          path,
          version,
          status,
          errorMessage,
          changed,
          trusted,
        }))(found)
      : {};
  return { name, title, aliases, category, consent, reason, description, ...more };
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0].replace(/\s+/g, ' ') ?? text;
}

/** The permission of a tool without regard to a call's arguments. */
type Consent = 'refused' | 'asked for every call' | 'by what a call touches' | 'not asked for';

export interface OfferedTool {
  readonly tool: Tool;
  readonly consent: Consent;
  /** In the policy's words. */
  readonly reason: string;
}

export interface OfferedTools {
  readonly offered: readonly OfferedTool[];
  /** The configured programs, including those that cannot be called. */
  readonly external: readonly ExternalToolInfo[];
}

/** The tools of the command, sorted by name, with the policy's verdict for each. */
export async function offeredTools({
  executor,
  external: externalTools,
}: Configuration): Promise<OfferedTools> {
  await using external = await openExternal({ ...executor, ...(externalTools && { externalTools }) });
  const own = builtinTools(executor.builtins);
  const taken = new Set(own.map(({ name }) => name));
  const others = (external?.tools ?? []).filter(({ name }) => !taken.has(name));
  const offered = [...own, ...others]
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((tool) => ({ tool, ...consentTo(tool, executor.policy) }));
  return { offered, external: external?.list() ?? [] };
}

function consentTo(
  { name, aliases, requiresApproval }: Tool,
  policy: Configuration['executor']['policy'],
): Omit<OfferedTool, 'tool'> {
  const evaluator = createPolicy(policy);
  const always = requiresApproval === true;
  const harmless = evaluator.decide({ name, aliases, sideEffecting: false, requiresApproval: always });
  if (harmless.disposition === 'pre_resolved') return { consent: 'refused', reason: harmless.reason };
  if (harmless.disposition === 'requires_confirmation')
    return { consent: 'asked for every call', reason: harmless.reason };
  const changing = evaluator.decide({ name, aliases, sideEffecting: true, requiresApproval: always });
  if (changing.disposition === 'execute_now') return { consent: 'not asked for', reason: changing.reason };
  return { consent: 'by what a call touches', reason: changing.reason };
}
