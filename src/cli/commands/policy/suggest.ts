import { ruleAsToml } from '../../../config/add-user-rule.js';
import type { ToolCall } from '../../../contract/call.js';
import type { Effect } from '../../../contract/effect.js';
import { hasLeftOut } from '../../../journal/redaction/left-out.js';
import { redact } from '../../../output/redact.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import type { PolicyRule } from '../../../policy/rules/policy-rule.js';
import { analyzeCommand } from '../../../policy/shell/analyze-command.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { openExecutor } from '../../open-executor.js';
import { resolvePlanning } from '../../resolve-settings.js';
import { addRecordedCallsOptions, type RecordedCallsOptions, readRecordedCalls } from './recorded-calls.js';

export const define: DefineCommand = (command, context, finish) => {
  addRecordedCallsOptions(command)
    .description(
      'Reads the calls of a journal, or of its export, and writes a rule for each that went well and would be asked about ' +
        'again: the very command, file or host, never what removes or is not understood.',
    )
    .addHelpText(
      'before',
      `Examples:
  toolexec policy suggest >> toolexec.toml
  toolexec journal export | toolexec policy suggest > rules.toml
`,
    )
    .action(async (file: string | undefined, options: RecordedCallsOptions) => {
      finish(await suggestRules(file, options, context));
    });
};

/**
 * `toolexec policy suggest`: rules that would have allowed what has been approved and went well, each exactly as it was.
 * Only calls that the configuration, as it stands, asks about; never what removes, and never what is not understood.
 * @throws UsageError, ToolError `config_invalid`
 */
export async function suggestRules(
  source: string | undefined,
  options: RecordedCallsOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  const { executor: settings, display } = resolvePlanning(options, context);
  const recorded = (await readRecordedCalls(source, options, context)).filter(
    ({ succeeded, call }) => succeeded && !hasLeftOut(call.args),
  );
  await using executor = await openExecutor(settings);
  const approved: ApprovedCall[] = [];
  for (const { call } of recorded) {
    const [planned] = (await executor.plan([call])).calls;
    if (planned?.disposition === 'requires_confirmation') approved.push({ call, effects: planned.effects });
  }
  const suggestions = proposeRules(approved);
  if (options.json === true) writeJson(stdio.stdout, suggestions);
  else stdio.stdout.write(suggestions.map(toToml).join('\n'));
  display.note(
    suggestions.length === 0
      ? `of ${recorded.length} calls that went well, there is none that a rule should allow`
      : `${suggestions.length} rules: look at each before you put it into a configuration, then: toolexec policy check`,
  );
  return 0;
}

function toToml({ rule, times }: Suggestion): string {
  const count = times === 1 ? 'once' : `${times} times`;
  return `# approved ${count}\n${ruleAsToml(rule)}`;
}

/** A call that a person has agreed to, and what it touches: what it declares, and what its commands are seen to. */
export interface ApprovedCall {
  readonly call: ToolCall;
  readonly effects: readonly Effect[];
}

interface Suggestion {
  readonly rule: PolicyRule;
  /** How many of the calls it would have allowed. */
  readonly times: number;
}

/**
 * Rules that allow exactly what was approved, the most frequent first: the very command, the very file, the host. Each
 * carries its example, and has been tried on it.
 */
export function proposeRules(calls: readonly ApprovedCall[]): readonly Suggestion[] {
  const found = new Map<string, Suggestion>();
  for (const call of calls) {
    const rule = ruleFor(call);
    if (rule === undefined || !holds(rule)) continue;
    const key = JSON.stringify(rule);
    found.set(key, { rule, times: (found.get(key)?.times ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => b.times - a.times);
}

function ruleFor({ call, effects }: ApprovedCall): PolicyRule | undefined {
  const [effect] = effects;
  if (effect === undefined || effects.some(({ kind }) => kind === 'delete')) return undefined;
  if (effect.kind === 'run') return ruleForCommand(call.name, effect.command);
  // One file, or one host: what touches more is for a person to put together.
  if (effects.length !== 1) return undefined;
  if (effect.kind === 'write') return ruleForFile(call.name, effect.path);
  return effect.kind === 'fetch' ? ruleForHost(call.name, effect.url) : undefined;
}

/** A line that is one simple command, understood, without redirections, and that starts no other. */
function ruleForCommand(tool: string, text: string): PolicyRule | undefined {
  const { verdict, commands, effects, settings = [] } = analyzeCommand(text, 'sh');
  const [words, ...others] = commands;
  if (verdict !== 'allow' || words === undefined || others.length > 0 || RISKY.test(words[0] ?? ''))
    return undefined;
  // What is set before a command, or where it runs, is for a person to write down.
  if (settings.some(({ texts }) => texts.some((one) => one !== 'PWD=.'))) return undefined;
  const command = words.map(quote).join(' ');
  if (redact(text) !== text || effects.some(({ kind }) => kind === 'delete')) return undefined;
  // A redirection is no word of the command, and would need a rule of its own.
  if (JSON.stringify(analyzeCommand(command, 'sh').effects) !== JSON.stringify(effects)) return undefined;
  return { decision: 'allow', tool, command, match: [text.trim()], not_match: [`${command}; rm -rf .`] };
}

/** Commands that remove, take over, or run foreign code: a person allows them by a rule of their own. */
const RISKY =
  /(?:^|\/)(?:rm|rmdir|unlink|shred|dd|mkfs.*|mv|chmod|chown|chgrp|ln|kill|pkill|killall|sudo|su|doas|ssh|scp|rsync|curl|wget|nc|docker|podman|kubectl|systemctl|mount|umount|crontab|at|eval|source|exec|export|set|bash|sh|dash|zsh|node|python[\d.]*|perl|ruby|php|find|xargs|env|git-.*)$/;

function quote(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function ruleForFile(tool: string, path: string): PolicyRule | undefined {
  // Relative and plain: a path that a pattern could widen, or that leads elsewhere, is none to allow.
  if (!/^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w@+,=.-]+(?:\/[\w@+,=.-]+)+$/.test(path)) return undefined;
  return { decision: 'allow', tool, effect: 'write', path, match: [path], not_match: [`${path}/x`] };
}

function ruleForHost(tool: string, text: string): PolicyRule | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, username, password } = new URL(text);
  if (protocol !== 'https:' || host === '' || username !== '' || password !== '') return undefined;
  return { decision: 'allow', tool, url: `https://${host}`, match: [`https://${host}/`] };
}

/** The rule can be read and matches its examples. */
function holds(rule: PolicyRule): boolean {
  try {
    return createAnalyzingPolicy({ rules: [rule] }).problems().length === 0;
  } catch {
    return false;
  }
}
