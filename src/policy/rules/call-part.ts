import { posix } from 'node:path';
import type { Effect, EffectKind } from '../../contract/effect.js';
import type { PathEffect, PolicyQuestion } from '../../contract/policy.js';
import { isEffectKind } from '../../effects/effect-kinds.js';
import { describeEffect, hasSideEffect } from '../../effects/traits.js';
import type { CommandWord } from '../../patterns/command.js';
import { type HostSubject, readHost } from '../../patterns/host.js';
import { isCertain, type PathFacts, PathSubject } from '../matching/path-subject.js';
import type { AnalyzeCommand, CommandAnalysis, CommandSetting } from '../shell/analysis.js';
import { coveredWords } from './known-options.js';

/** One command line of a call. */
export interface RunText {
  readonly text: string;
  /** The shell that reads it; `sh` may be any shell, and the strictest reading counts. */
  readonly shell: 'sh' | 'bash';
  readonly analysis: CommandAnalysis | undefined;
  /** The canonical directory where it starts; undefined: the call's directory. */
  readonly from: string | undefined;
  /** The same as written in the call. */
  readonly cwd: string | undefined;
}

/** One part of a call for rules: each part is evaluated separately. */
export interface CallPart {
  /** Undefined: the call as a whole, with no known effects. */
  readonly kind: EffectKind | undefined;
  readonly sideEffecting: boolean;
  /** For people: `write src/a.ts`. */
  readonly shown: string;
  readonly path?: PathSubject;
  readonly url?: HostSubject;
  /** A simple command; undefined if it could not be determined. */
  readonly words?: readonly string[] | undefined;
  /** The same words as an allowing rule must match them without a transaction. */
  readonly covered?: () => readonly CommandWord[];
  /** The settings before the command that a rule must spell. */
  readonly settings?: readonly string[];
  /** The command line that contains it. */
  readonly run?: RunText;
  /** An effect that the analysis found in the command line. */
  readonly seen?: Effect;
  /** The same for one file that a wildcard matches. */
  readonly named?: PathEffect;
}

/** The parts of a call: its effects; for a `run`, each simple command and each effect found in it. */
export function partsOf(question: PolicyQuestion, analyze: AnalyzeCommand | undefined): readonly CallPart[] {
  const parts = (question.effects ?? toldByArguments(question)).flatMap((effect, index) =>
    partsOfEffect(effect, question, index, analyze),
  );
  if (parts.length === 0) {
    return [
      { kind: undefined, sideEffecting: question.sideEffecting, shown: `the call of ${question.name}` },
    ];
  }
  // The question's trait of the whole call counts, even if an effect contradicts it.
  if (!question.sideEffecting) return parts.map((part) => ({ ...part, sideEffecting: false }));
  return parts.some((part) => part.sideEffecting)
    ? parts
    : parts.map((part) => ({ ...part, sideEffecting: true }));
}

function partsOfEffect(
  effect: Effect,
  question: PolicyQuestion,
  index: number,
  analyze: AnalyzeCommand | undefined,
): readonly CallPart[] {
  const at = question.places?.[index]?.at;
  if (!isEffectKind(effect.kind)) return [plainPart({ kind: 'unknown' })];
  if (effect.kind === 'run') return partsOfRun(effect, question, at, analyze);
  if ('path' in effect) return [pathPart(effect, { canonical: () => at, outside: false }, question)];
  return [plainPart(effect)];
}

function partsOfRun(
  { command: text, cwd, shell: declared }: Effect<'run'>,
  question: PolicyQuestion,
  from: string | undefined,
  analyze: AnalyzeCommand | undefined,
): readonly CallPart[] {
  // An untyped program may omit the shell.
  const shell = declared === 'bash' ? 'bash' : 'sh';
  const analysis = analyze?.(text, shell);
  const run: RunText = { text, shell, analysis, from, cwd };
  const found = analysis === undefined ? [plainWords(text)] : analysis.commands;
  // A text without a command (an assignment, a redirection) is a part too.
  const settings = settingsOf(run, question);
  const namesOf = (pattern: string) => question.expand?.(pattern, from);
  const partOf = (words: Words, at: number, own: readonly string[] = []): CallPart => ({
    kind: 'run',
    sideEffecting: true,
    shown: `run ${brief([...own, ...(words ?? [])].join(' ') || text)}`,
    words,
    run,
    ...(words === undefined
      ? {}
      : { covered: once(() => coveredWords(words, analysis?.found?.[at]?.marks, namesOf)) }),
    ...(own.length === 0 ? {} : { settings: own }),
  });
  const alone = settings
    .filter(({ command }) => command === undefined)
    .map(({ texts }) => partOf([], -1, texts));
  const commands = (found.length + alone.length === 0 ? [[]] : found).map((words, at) =>
    partOf(words, at, settings.find(({ command }) => command === words)?.texts),
  );
  const effects = (analysis?.effects ?? []).flatMap((seen) => partsOfSeen(seen, question, run));
  return [...alone, ...commands, ...effects];
}

type Words = readonly string[] | undefined;

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * The effects found in a command; a wildcard is replaced by each existing file. The spreads come last, because Node 20
 * is slow at adding a property after a spread.
 */
function partsOfSeen(seen: Effect, question: PolicyQuestion, run: RunText): readonly CallPart[] {
  if (!('path' in seen)) return [{ run, seen, ...plainPart(seen) }];
  const partAt = (effect: PathEffect): CallPart => ({
    run,
    seen,
    ...pathPart(effect, located(effect.path, question, run.from), question),
  });
  const names = /[*?[]/.test(seen.path) ? question.expand?.(seen.path, run.from) : undefined;
  if (names === undefined || names.length === 0) return [partAt(seen)];
  return names.map((path) => ({ named: { ...seen, path }, ...partAt({ ...seen, path }) }));
}

/** The settings that rules must spell out. The directory needs none if it is a root. */
function settingsOf(
  { analysis, from, cwd }: RunText,
  { roots = [] }: PolicyQuestion,
): readonly CommandSetting[] {
  const start = from ?? roots[0];
  const shown = (text: string): readonly string[] => {
    const directory = /^PWD=(.*)$/s.exec(text)?.[1];
    if (directory === undefined) return [text];
    const isRoot = start === undefined ? directory === '.' : roots.includes(posix.resolve(start, directory));
    const isStart = directory === '.' && cwd === undefined;
    return isRoot || isStart
      ? []
      : [`PWD=${/^[/?]/.test(directory) ? directory : posix.join(cwd ?? '.', directory)}`];
  };
  return (analysis?.settings ?? [])
    .map((setting) => ({ ...setting, texts: setting.texts.flatMap(shown) }))
    .filter(({ texts }) => texts.length > 0);
}

/** The place of a path in a command. */
function located(path: string, { locate }: PolicyQuestion, from: string | undefined): Place {
  if (locate === undefined) return UNLOCATED;
  return { canonical: () => (isCertain(path) ? locate(path, from) : undefined), outside: true };
}

type Place = Pick<PathFacts, 'canonical' | 'outside'>;

const UNLOCATED: Place = { canonical: () => undefined, outside: false };

function pathPart(effect: PathEffect, place: Place, { roots = [] }: PolicyQuestion): CallPart {
  return {
    kind: effect.kind,
    sideEffecting: hasSideEffect(effect),
    shown: brief(describeEffect(effect)),
    path: new PathSubject({ written: effect.path, roots, ...place }),
  };
}

function plainPart(effect: Effect): CallPart {
  const part = {
    kind: effect.kind,
    sideEffecting: hasSideEffect(effect),
    shown: brief(describeEffect(effect)),
  };
  return 'url' in effect ? { ...part, url: readHost(effect.url) } : part;
}

/**
 * For questions without effects: derives them from the usual argument names. The shell is unknown, so the
 * strictest reading counts.
 */
function toldByArguments({ args, sideEffecting }: PolicyQuestion): readonly Effect[] {
  if (args === undefined) return [];
  const text = (name: string): string | undefined => {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const command = text('command');
  const path = text('path') ?? text('file_path');
  const url = text('url');
  return [
    ...(command === undefined ? [] : [{ kind: 'run', command, shell: 'sh' } as const]),
    ...(path === undefined ? [] : [{ kind: sideEffecting ? 'write' : 'read', path } as const]),
    ...(url === undefined ? [] : [{ kind: 'fetch', url } as const]),
  ];
}

function brief(text: string): string {
  const line = text.replace(/[\s\0]+/g, ' ');
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

/**
 * The words of one simple command without shell syntax. Undefined if it contains quotes, variables, patterns,
 * separators, or an assignment before the command.
 */
function plainWords(text: string): readonly string[] | undefined {
  if (text.length > MAX_LENGTH || !/^[\w./:@%+,=\- ]*$/.test(text)) return undefined;
  const words = text.split(' ').filter((word) => word !== '');
  const [first] = words;
  if (first === undefined || first.includes('=')) return undefined;
  if (KEYWORDS.has(first.slice(first.lastIndexOf('/') + 1))) return undefined;
  return words;
}

const MAX_LENGTH = 65_536;

/** Words of the shell's grammar at the start of a command, and programs that run their arguments. */
const KEYWORDS = new Set(
  [
    'case coproc do done elif else esac fi for function if in select then time until while . source',
    'builtin command env eval exec nice nohup setsid stdbuf sudo doas su timeout trap xargs chroot unshare nsenter',
    'sh bash dash zsh ksh fish busybox ssh watch find parallel script strace ltrace flock runuser setpriv',
  ].flatMap((line) => line.split(' ')),
);
