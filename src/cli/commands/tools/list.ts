import type { Configuration } from '../../../config/configuration.js';
import type { Tool } from '../../../contract/tool.js';
import { builtinTools } from '../../../executor/builtin-tools.js';
import { createPolicy } from '../../../policy/create-policy.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createPalette, inColumns, writeJson } from '../../display/terminal-text.js';
import { resolveSettings } from '../../resolve-settings.js';

/** What `tools` commands take, as commander hands it over. */
interface ToolsOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec tools list\n  toolexec tools list --json\n')
    .action(async (options: ToolsOptions) => {
      finish(listTools(options, context));
    });
};

/** `toolexec tools list`: every tool of the command. */
export function listTools(options: ToolsOptions, context: CliContext): ExitCode {
  const { stdout } = context.stdio;
  const offered = offeredTools(resolveSettings(options, context).configuration);
  if (options.json === true) {
    writeJson(stdout, offered.map(toJson));
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, context.env);
  const rows = offered.map(({ tool, consent }) => [
    tool.name,
    tool.category,
    consent,
    firstSentence(tool.description),
  ]);
  const [head = '', ...lines] = inColumns([['TOOL', 'KIND', 'CONSENT', 'WHAT IT DOES'], ...rows]).split('\n');
  stdout.write([palette.dim(head), ...lines].join('\n'));
  return 0;
}

function toJson({ tool, consent, reason }: OfferedTool): unknown {
  const { name, title, aliases, category, description } = tool;
  return { name, title, aliases, category, consent, reason, description };
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0].replace(/\s+/g, ' ') ?? text;
}

/** What the configuration lets a tool do without looking at a call's arguments. */
type Consent = 'refused' | 'asked for every call' | 'by what a call touches' | 'not asked for';

export interface OfferedTool {
  readonly tool: Tool;
  readonly consent: Consent;
  /** In the policy's words. */
  readonly reason: string;
}

/** The tools of the command, sorted by name, with what the policy says of each. */
export function offeredTools({ executor }: Configuration): readonly OfferedTool[] {
  return builtinTools(executor.builtins)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map((tool) => ({ tool, ...consentTo(tool, executor.policy) }));
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
