import { quoteWord } from '../../base/quote-word.js';
import type { Effect, EffectKind } from '../../contract/effect.js';
import type { PolicyAnswer, PolicyQuestion, WriteConsent } from '../../contract/policy.js';
import type { LaterCode } from '../later-code/later-code.js';
import type { PathSubject } from '../matching/path-subject.js';
import { type CallPart, partsOf, type RunText } from '../rules/call-part.js';
import type { RuleEntry } from '../rules/compile-rule.js';
import type { NormalizedPolicyOptions } from '../rules/policy-options.js';
import type { AnalyzeCommand } from '../shell/analysis.js';
import { fromCallStart } from '../shell/from-call-start.js';
import type { RuleIndex } from './rule-index.js';
import { type Circumstances, decisionOf, matchOf, unreadable } from './rule-match.js';

/** The normalized options of a policy. */
export interface PolicyBasis extends NormalizedPolicyOptions {
  readonly allowed: ReadonlySet<string>;
  readonly denied: ReadonlySet<string>;
  readonly index: RuleIndex;
  readonly hasRules: boolean;
  /** Paths that run later by themselves. */
  readonly later: LaterCode;
  readonly analyzeCommand: AnalyzeCommand | undefined;
}

/** One part of a call and its matching rule. */
export interface EvaluatedPart {
  readonly part: CallPart;
  readonly match: RuleEntry | undefined;
}

/** The evaluation of one question. Each fact is computed once, when a step first needs it. */
export class Evaluation implements Circumstances {
  readonly basis: PolicyBasis;
  readonly question: PolicyQuestion;
  #argumentAnswers: Circumstances['argumentAnswers'] | undefined;
  #evaluated: readonly EvaluatedPart[] | undefined;
  #runs: readonly RunText[] | undefined;
  #seen: readonly Effect[] | undefined;

  constructor(basis: PolicyBasis, question: PolicyQuestion) {
    this.basis = basis;
    this.question = question;
  }

  get mode() {
    return this.basis.mode;
  }

  get projectMayAllow(): boolean {
    return this.basis.projectMayAllow;
  }

  get argumentAnswers(): Circumstances['argumentAnswers'] {
    this.#argumentAnswers ??= new Map();
    return this.#argumentAnswers;
  }

  get parts(): readonly EvaluatedPart[] {
    this.#evaluated ??= partsOf(this.question, this.basis.analyzeCommand).map((part) => ({
      part,
      match: this.basis.hasRules ? matchOf(part, this.basis.index, this) : undefined,
    }));
    return this.#evaluated;
  }

  /** The command lines of the call, each once. */
  get runs(): readonly RunText[] {
    const { effects } = this.question;
    if (this.#evaluated === undefined && effects !== undefined && !effects.some(isRun)) return NO_RUNS;
    this.#runs ??= runsOf(this.parts);
    return this.#runs;
  }

  /** The effects found in the commands, relative to the call's directory; empty without an analysis. */
  get seen(): readonly Effect[] {
    if (this.#evaluated === undefined) return NO_EFFECTS;
    this.#seen ??= seenIn(this.#evaluated);
    return this.#seen;
  }

  /** The first part and rule for which a match cannot be determined. */
  get unread(): { readonly part: CallPart; readonly entry: RuleEntry } | undefined {
    if (!this.basis.hasRules) return undefined;
    for (const { part } of this.parts) {
      const entry = unreadable(part, this.basis.index, this);
      if (entry !== undefined) return { part, entry };
    }
    return undefined;
  }

  /** The name of the tool on the allowlist. */
  get allowlisted(): string | undefined {
    return entryOf(this.basis.allowed, this.question.name, this.question.aliases);
  }

  /** The rule that allows a part, directly or through its command. */
  allowOf({ part, match }: EvaluatedPart): RuleEntry | undefined {
    if (match !== undefined)
      return decisionOf(match) === 'allow' && this.#lets(match, part) ? match : undefined;
    const { run, seen } = part;
    if (run === undefined || seen === undefined) return undefined;
    const commands = this.parts.filter((other) => other.part.run === run && other.part.seen === undefined);
    const isAllowed = ({ match: own }: EvaluatedPart): boolean =>
      own !== undefined && decisionOf(own) === 'allow';
    // A read is harmless if the reading commands are allowed, with any path after `<`.
    if (seen.kind === 'read') return commands.every(isAllowed) ? commands[0]?.match : undefined;
    return commands.find(
      (command) =>
        isAllowed(command) &&
        this.#touches(command, seen) &&
        command.match !== undefined &&
        this.#lets(command.match, part),
    )?.match;
  }

  /**
   * The paths that the allowing rules let commands and programs change; undefined if the rules say nothing about that.
   * What the tool declares to write itself says nothing about its commands.
   */
  get consent(): WriteConsent | undefined {
    if (!this.basis.hasRules) return undefined;
    const isByPath = ({ match }: EvaluatedPart): boolean =>
      match?.argument?.field === 'path' && decisionOf(match) === 'allow';
    const mayChange = this.runs.length > 0 ? mayRun : mayChangeFiles;
    const own = this.parts.filter(
      (evaluated) => evaluated.part.seen === undefined && mayChange(evaluated.part) && !isByPath(evaluated),
    );
    const writes = own.map((evaluated) => this.allowOf(evaluated)?.rule.rule.writes);
    const isBounded = own.length > 0 && writes.every((patterns) => patterns !== undefined);
    const patterns = writes.flatMap((some) => some ?? []);
    const named = this.parts.flatMap((evaluated) => {
      const effect = isByPath(evaluated) ? pathEffectOf(evaluated.part) : undefined;
      return effect === undefined ? [] : [effect];
    });
    if (!isBounded && named.length === 0 && this.runs.length === 0) return undefined;
    return { ...(isBounded ? { patterns } : {}), named };
  }

  /**
   * Whether a rule that allows a part also allows changing this path: a path that runs later only if the rule
   * names it. In a transaction the changes of a command are compared with `consent` when it has ended: its text names
   * a directory like a file, and `a/[id]` like a pattern.
   */
  #lets({ rule: { rule, writes }, argument }: RuleEntry, { kind, path, run }: CallPart): boolean {
    if (path === undefined || (kind !== 'write' && kind !== 'delete')) return true;
    if (argument?.field === 'path') return true;
    if (run !== undefined && this.question.transaction === true && rule.write_through !== true) return true;
    return writes === undefined ? !this.runsLater(path) : writes.some((pattern) => pattern.matches(path));
  }

  /** Whether a path runs later by itself, under its own name or another one. */
  runsLater(path: PathSubject): boolean {
    const { later } = this.basis;
    if (later.matches(path)) return true;
    const { laterNames, roots = [] } = this.question;
    if (laterNames === undefined || path.canonical === undefined) return false;
    return laterNames(path.canonical, later).some((name) => later.has(name, roots));
  }

  /**
   * Whether a simple command, without the redirections of its line, has an effect found in the line: then a
   * rule that allows the command allows the effect. `echo x > file` writes, `echo x` does not.
   */
  #touches({ part: { words, run } }: EvaluatedPart, seen: Effect): boolean {
    const analysis = run?.analysis;
    if (words === undefined || analysis === undefined) return false;
    const found = analysis.found?.[analysis.commands.indexOf(words)];
    const touched =
      found === undefined
        ? this.basis.analyzeCommand?.(words.map(quoteWord).join(' '), run?.shell).effects
        : (found.touches ?? found.effects);
    const key = JSON.stringify(seen);
    return touched?.some((effect) => JSON.stringify(effect) === key) === true;
  }
}

/** A part that may change files: of a call as a whole, the effects are not known. */
function mayChangeFiles({ kind }: CallPart): boolean {
  return kind === undefined || CHANGES.has(kind);
}

function mayRun({ kind }: CallPart): boolean {
  return kind === 'run' || kind === 'unknown';
}

const CHANGES: ReadonlySet<EffectKind> = new Set(['run', 'write', 'delete', 'unknown']);

/** The effect on a path, as the call names it. */
function pathEffectOf({ seen, run, kind, path }: CallPart): Effect | undefined {
  if (seen !== undefined) return 'path' in seen ? fromCallStart(seen, run?.cwd) : undefined;
  if (path === undefined || (kind !== 'write' && kind !== 'delete')) return undefined;
  return { kind, path: path.shown };
}

function runsOf(parts: readonly EvaluatedPart[]): readonly RunText[] {
  const runs: RunText[] = [];
  for (const { part } of parts) if (part.run !== undefined && !runs.includes(part.run)) runs.push(part.run);
  return runs.length === 0 ? NO_RUNS : runs;
}

function seenIn(parts: readonly EvaluatedPart[]): readonly Effect[] {
  const effects: Effect[] = [];
  for (const { part } of parts)
    if (part.seen !== undefined) effects.push(fromCallStart(part.seen, part.run?.cwd));
  return effects.length === 0 ? NO_EFFECTS : effects;
}

const NO_EFFECTS: readonly Effect[] = Object.freeze([]);

const NO_NAMES: readonly string[] = Object.freeze([]);
const NO_RUNS: readonly RunText[] = Object.freeze([]);

function isRun({ kind }: Effect): boolean {
  return kind === 'run';
}

/** The tool's name on a list. */
export function entryOf(
  list: ReadonlySet<string>,
  name: string,
  aliases: readonly string[] | undefined,
): string | undefined {
  if (list.size === 0) return undefined;
  if (list.has(name)) return name;
  // By index: a closure over `list`, or an iterator, would allocate several objects for every call.
  const names = aliases ?? NO_NAMES;
  for (let at = 0; at < names.length; at++) {
    const alias = names[at] as string;
    if (list.has(alias)) return alias;
  }
  return undefined;
}

export function asks(reason: string, insists = false): PolicyAnswer {
  return insists
    ? { disposition: 'requires_confirmation', reason, insists }
    : { disposition: 'requires_confirmation', reason };
}

export function nameEntry(name: string, entry: string): string {
  return name === entry ? `${name} is` : `${name} is (as ${entry})`;
}
