import { quoteWord } from '../../../base/quote-word.js';
import { ruleAsToml } from '../../../config/add-user-rule.js';
import type { ToolCall } from '../../../contract/call.js';
import type { Effect } from '../../../contract/effect.js';
import { hasLeftOut } from '../../../journal/redaction/left-out.js';
import { redact } from '../../../output/redact.js';
import { sanitize } from '../../../output/sanitize.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import { RUNS_WORKSPACE_CODE, runsWorkspaceCode } from '../../../policy/explain/workspace-code.js';
import type { PolicyRule } from '../../../policy/rules/policy-rule.js';
import { analyzeCommand } from '../../../policy/shell/analyze-command.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { LaterPlace } from '../../later-place.js';
import { openExecutor } from '../../open-executor.js';
import { resolvePlanning } from '../../resolve-planning.js';
import { laterBelowOf } from './later-below.js';
import { addRecordedCallsOptions, type RecordedCallsOptions, readRecordedCalls } from './recorded-calls.js';
import { type SeenChanges, type SeenWrites, writesFor } from './seen-writes.js';

export const define: DefineCommand = (command, context, finish) => {
  addRecordedCallsOptions(command)
    .description(
      'Reads the calls of a journal, or of its export, and writes a rule for each that succeeded and would be asked about ' +
        'again: exactly the command, file or host, unless a rule would also let a call run that the person refused. A rule for a command covers the changes that it was seen to make (`writes`), and a comment says ' +
        "if it runs the workspace's code. Writes no rule for commands that remove something, or that were not understood.",
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
 * `toolexec policy suggest`: rules that would have allowed calls that were approved and succeeded, each
 * exactly as it was. Only for calls that the current configuration asks about; never for removals, and never
 * for commands that were not understood.
 * @throws UsageError, ToolError `config_invalid`
 */
export async function suggestRules(
  source: string | undefined,
  options: RecordedCallsOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  const { executor: settings, display } = resolvePlanning(options, context);
  const whole = (await readRecordedCalls(source, options, context)).filter(
    ({ call }) => !hasLeftOut(call.args),
  );
  const recorded = whole.filter(({ succeeded }) => succeeded);
  const refused = whole.filter(({ code }) => code === 'user_denied');
  const [approved, denied] = [await askedAbout(recorded, settings), await askedAbout(refused, settings)];
  const place = new LaterPlace(settings);
  const propose = (calls: readonly ApprovedCall[]) => proposeRules(calls, place, seenIn(place));
  // A rule is proposed only if it lets its own call run, and none that was refused.
  const rules = propose(approved).map(({ rule }) => rule);
  const isOpen = await askedAbout([...approved, ...denied], withRules(settings, rules));
  const runs = (one: ApprovedCall): boolean => !isOpen.some(({ call }) => call === one.call);
  const lets = denied.filter(runs);
  const suggestions = propose(
    approved.filter((one) => runs(one) && !lets.some((other) => sharePart(one, other))),
  );
  if (options.json === true) writeJson(stdio.stdout, suggestions);
  else stdio.stdout.write(suggestions.map(toToml).join('\n'));
  display.note(
    suggestions.length === 0
      ? `no rules to suggest: of ${recorded.length} successful calls, each is allowed already or is better asked about every time`
      : `${suggestions.length} rules: check each before you add it to a configuration, then: toolexec policy check`,
  );
  return 0;
}

/** Derives `writes` of rules from observed changes. */
export function seenIn(place: LaterPlace): (changes: readonly SeenChanges[]) => SeenWrites {
  return (changes) => writesFor(changes, place, laterBelowOf(place));
}

type Settings = ReturnType<typeof resolvePlanning>['executor'];

/** The calls that need approval. */
async function askedAbout(
  calls: readonly Pick<ApprovedCall, 'call' | 'changes'>[],
  settings: Settings,
): Promise<readonly ApprovedCall[]> {
  await using executor = await openExecutor(settings);
  const asked: ApprovedCall[] = [];
  // One at a time, because limits of a batch (its size, duplicate ids) do not apply.
  for (const { call, changes } of calls) {
    const [planned] = (await executor.plan([call])).calls;
    if (planned?.disposition === 'requires_confirmation')
      asked.push({ call, effects: planned.effects, changes });
  }
  return asked;
}

function withRules(settings: Settings, rules: readonly PolicyRule[]): Settings {
  return {
    ...settings,
    policy: { ...settings.policy, rules: [...(settings.policy?.rules ?? []), ...rules] },
  };
}

/** Whether two calls have a simple command, file or host in common. */
function sharePart(one: ApprovedCall, other: ApprovedCall): boolean {
  const parts = (call: ApprovedCall): readonly string[] => call.effects.flatMap(namesOf);
  const others = parts(other);
  return one.call.name === other.call.name && parts(one).some((part) => others.includes(part));
}

function namesOf(effect: Effect): readonly string[] {
  if (effect.kind === 'run')
    return analyzeCommand(effect.command, 'sh').commands.map((words) => words.map(quoteWord).join(' '));
  if (effect.kind === 'fetch') return URL.canParse(effect.url) ? [new URL(effect.url).host] : [];
  return [JSON.stringify(effect)];
}

function toToml(suggestion: Suggestion): string {
  const { rule, times } = suggestion;
  const count = times === 1 ? 'once' : `${times} times`;
  return `# approved ${count}\n${notesAsToml(suggestion)}${ruleAsToml(rule)}`;
}

/** Notes about a proposed rule, as comments above it. */
export function notesAsToml({ notes }: Pick<Suggestion, 'notes'>): string {
  return notes.map((note) => `# ${sanitize(note, 'inline')}\n`).join('');
}

/** An approved call and its effects, declared and observed. */
export interface ApprovedCall {
  readonly call: ToolCall;
  readonly effects: readonly Effect[];
  /** Present if its command ran in a transaction. */
  readonly changes?: SeenChanges | undefined;
}

interface Suggestion {
  readonly rule: PolicyRule;
  /** How many of the calls it would have allowed. */
  readonly times: number;
  /** Remarks about it, in words. */
  readonly notes: readonly string[];
}

/**
 * Rules that allow exactly the approved calls, most frequent first: the same command, file or host. Each
 * contains its example and is tested with it.
 *
 * @param place knows which files run later by themselves
 * @param seen derives `writes` of command rules from their changes. If absent: rules have none
 */
export function proposeRules(
  calls: readonly ApprovedCall[],
  place: LaterPlace,
  seen?: (changes: readonly SeenChanges[]) => SeenWrites,
): readonly Suggestion[] {
  const found = new Map<string, { readonly rule: PolicyRule; readonly calls: ApprovedCall[] }>();
  for (const call of calls) {
    const rule = ruleFor(call);
    if (rule === undefined) continue;
    const key = JSON.stringify(rule);
    const known = found.get(key);
    if (known === undefined) found.set(key, { rule, calls: [call] });
    else known.calls.push(call);
  }
  return [...found.values()]
    .map(({ rule, calls: same }) => ({ ...withNotes(rule, same, place, seen), times: same.length }))
    .filter(({ rule }) => holds(rule))
    .sort((a, b) => b.times - a.times);
}

/** A rule with what a person should know about it; a command rule also with its observed changes. */
function withNotes(
  rule: PolicyRule,
  calls: readonly ApprovedCall[],
  place: LaterPlace,
  seen: ((changes: readonly SeenChanges[]) => SeenWrites) | undefined,
): Pick<Suggestion, 'rule' | 'notes'> {
  const [effect] = calls[0]?.effects ?? [];
  if (rule.command === undefined) {
    const isLater = effect?.kind === 'write' && place.lies(place.at(effect.path));
    return {
      rule,
      notes: isLater ? ['this file runs later by itself: the rule allows all its changes'] : [],
    };
  }
  const { commands } = analyzeCommand(effect?.kind === 'run' ? effect.command : '', 'sh');
  const runs = commands.some(runsWorkspaceCode) ? [RUNS_WORKSPACE_CODE] : [];
  if (seen === undefined) return { rule, notes: runs };
  const changes = calls.flatMap((call) => call.changes ?? []);
  if (changes.length < calls.length)
    return { rule, notes: [...runs, 'its changes are unknown: it ran without a transaction'] };
  const { patterns, laterCode, deleted, unnamed } = seen(changes);
  const notes = [
    ...runs,
    ...told('it changed what runs later by itself', laterCode),
    ...told('it removed', deleted),
    ...told('not covered, because no pattern can hold the name', unnamed),
    ...(changes.some(({ more }) => more !== undefined)
      ? ['it changed more than the journal lists: the rest is asked about']
      : []),
  ];
  return { rule: { ...rule, writes: patterns }, notes };
}

function told(what: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, MOST_TOLD).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return [`${what}: ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`];
}

const MOST_TOLD = 5;

function ruleFor({ call, effects, changes }: ApprovedCall): PolicyRule | undefined {
  const [effect] = effects;
  if (effect === undefined || effects.some(({ kind }) => kind === 'delete')) return undefined;
  if (effect.kind === 'run') return ruleForCommand(call.name, effect.command, changes !== undefined);
  // One file or one host: for more, a person should write the rule.
  if (effects.length !== 1) return undefined;
  if (effect.kind === 'write') return ruleForFile(call.name, effect.path);
  return effect.kind === 'fetch' ? ruleForHost(call.name, effect.url) : undefined;
}

/** A line with one simple, understood command without redirections that starts no other program. */
function ruleForCommand(tool: string, text: string, isSeen: boolean): PolicyRule | undefined {
  const { verdict, commands, effects, settings = [] } = analyzeCommand(text, 'sh');
  const [words, ...others] = commands;
  if (verdict !== 'allow' || words === undefined || others.length > 0) return undefined;
  const [program = ''] = words;
  if (RISKY.test(program) || (!isSeen && INTERPRETER.test(program))) return undefined;
  // A person should write the rule for a command with settings or another directory.
  if (settings.some(({ texts }) => texts.some((one) => one !== 'PWD=.'))) return undefined;
  const command = words.map(quoteWord).join(' ');
  if (redact(text) !== text || effects.some(({ kind }) => kind === 'delete')) return undefined;
  // A redirection is not a word of the command, and would need its own rule.
  if (JSON.stringify(analyzeCommand(command, 'sh').effects) !== JSON.stringify(effects)) return undefined;
  return { decision: 'allow', tool, command, match: [text.trim()], not_match: [`${command}; rm -rf .`] };
}

/** Commands that remove, take over, or run foreign code: a person must write their rules. */
const RISKY =
  /(?:^|\/)(?:rm|rmdir|unlink|shred|dd|mkfs.*|mv|chmod|chown|chgrp|ln|kill|pkill|killall|sudo|su|doas|ssh|scp|rsync|curl|wget|nc|docker|podman|kubectl|systemctl|mount|umount|crontab|at|eval|source|exec|export|set|find|xargs|env|git-.*)$/;

/**
 * These can run anything: a rule is proposed only if their changes are known, and the rule is limited to
 * them.
 */
const INTERPRETER = /(?:^|\/)(?:bash|sh|dash|zsh|node|python[\d.]*|perl|ruby|php)$/;

function ruleForFile(tool: string, path: string): PolicyRule | undefined {
  // Relative and plain: other paths could match more than intended, or lead elsewhere.
  if (!/^(?!.*(?:^|\/)\.\.?(?:\/|$))[\w@+,=.-]+(?:\/[\w@+,=.-]+)+$/.test(path)) return undefined;
  return { decision: 'allow', tool, effect: 'write', path, match: [path], not_match: [`${path}/x`] };
}

function ruleForHost(tool: string, text: string): PolicyRule | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, username, password } = new URL(text);
  if (protocol !== 'https:' || host === '' || username !== '' || password !== '') return undefined;
  return { decision: 'allow', tool, url: `https://${host}`, match: [`https://${host}/`] };
}

/** The rule is valid and matches its examples. */
function holds(rule: PolicyRule): boolean {
  try {
    return createAnalyzingPolicy({ rules: [rule] }).problems().length === 0;
  } catch {
    return false;
  }
}
