import type { Effect } from '../../../contract/effect.js';
import type { Field } from './field.js';
import { effectPath, filePattern, isSecret } from './place.js';
import type { Scope } from './scope.js';

/**
 * `unsure`: it may be an option, or several words. `partly`: part of it is not known. `walked`: part of
 * another command, which is also one of `commands`. A pattern: it stands for a file that matches it, relative
 * to where the command line starts; `\` makes the next character literal.
 */
export type WordMark = 'unsure' | 'partly' | 'walked' | { readonly pattern: string };

/** The findings about a simple command, including the commands that it starts. */
class Found {
  /** The effects of its redirections come first. Those of its words are found after the command is recorded. */
  readonly effects = new Map<string, { readonly effect: Effect; readonly isOwn: boolean }>();
  reasons: Set<string> | undefined;
  reads: Set<string> | undefined;
  isUntold = false;

  add({ effects, reasons, reads, isUntold }: Found): void {
    for (const [key, told] of effects) this.effect(key, told.effect, told.isOwn);
    for (const reason of reasons ?? []) this.reason(reason);
    for (const path of reads ?? []) this.read(path);
    this.isUntold ||= isUntold;
  }

  reason(text: string): void {
    this.reasons ??= new Set();
    this.reasons.add(text);
  }

  read(path: string): void {
    this.reads ??= new Set();
    this.reads.add(path);
  }

  effect(key: string, effect: Effect, isOwn: boolean): void {
    if (isOwn || !this.effects.has(key)) this.effects.set(key, { effect, isOwn });
  }
}

interface Walked {
  readonly words: readonly string[];
  readonly fields: readonly Field[];
  readonly settings: readonly string[];
  readonly directory: string | undefined;
  readonly found: Found;
}

interface Open {
  walked: Walked | undefined;
  readonly found: Found;
}

/** Collects the findings of the analysis; the verdict only ever gets worse. */
export class Findings {
  readonly #blocks = new Set<string>();
  readonly #asks = new Set<string>();
  readonly #commands: Walked[] = [];
  readonly #seen = new Map<object, Walked[]>();
  /** Commands that are being walked, innermost last; undefined for one that is not recorded yet. */
  readonly #open: Open[] = [];
  readonly #effects = new Map<string, Effect>();
  /** Words that belong to a command that is walked separately. */
  readonly #walkedWords = new Set<Field>();
  readonly #settings: { readonly texts: readonly string[]; readonly command?: readonly string[] }[] = [];

  block(reason: string): void {
    this.#reason(this.#blocks, `Command blocked as dangerous: ${reason}`);
  }

  ask(reason: string): void {
    this.#reason(this.#asks, reason);
  }

  #reason(reasons: Set<string>, reason: string): void {
    if (reasons.size >= MAX_REASONS) return;
    reasons.add(reason);
    for (const { found } of this.#open) found.reason(reason);
  }

  /**
   * Walks a simple command with its redirections: findings during the walk belong to the command that `run`
   * records.
   */
  walk<T>(run: () => T): T {
    const open: Open = { walked: undefined, found: new Found() };
    this.#open.push(open);
    try {
      return run();
    } finally {
      this.#open.pop();
      open.walked?.found.add(open.found);
    }
  }

  /** Loops and functions are walked more than once: the same command at the same place counts once. */
  record(place: object, words: readonly Field[], settings: readonly string[] = [], directory?: string): void {
    const texts = words.map(({ shown }) => shown);
    const before = this.#seen.get(place) ?? [];
    const known = before.find((one) => isSameList(one.words, texts) && isSameList(one.settings, settings));
    const walked = known ?? { words: texts, fields: words, settings, directory, found: new Found() };
    const innermost = this.#open.at(-1);
    if (innermost !== undefined) innermost.walked ??= walked;
    if (known !== undefined) return;
    before.push(walked);
    this.#seen.set(place, before);
    this.#commands.push(walked);
    if (settings.length > 0) this.#settings.push({ texts: settings, command: walked.words });
  }

  /** A variable that is set for the commands after it. */
  setting(text: string): void {
    if (!this.#settings.some(({ texts, command }) => command === undefined && texts[0] === text))
      this.#settings.push({ texts: [text] });
  }

  /** These words are walked as a separate command. */
  walks(words: readonly Field[]): void {
    for (const word of words) this.#walkedWords.add(word);
  }

  effect(effect: Effect): void {
    const key = JSON.stringify(effect);
    this.#effects.set(key, effect);
    for (const { walked, found } of this.#open) found.effect(key, effect, walked !== undefined);
  }

  /** The command being walked may touch more than its words show. */
  untold(): void {
    for (const { found } of this.#open) found.isUntold = true;
  }

  /**
   * A path that is not known becomes an unknown effect.
   * @param isContent whether the content matters, not only that the file exists
   */
  touches(kind: 'read' | 'write' | 'delete', field: Field, { directory }: Scope, isContent = true): void {
    const path = effectPath(field, directory);
    if (path === undefined) this.runsUnseen();
    if (path === undefined || IS_STREAM.test(path)) return;
    this.effect({ kind, path });
    const isSure = field.pieces.every((piece) => piece.kind !== 'unknown');
    if (kind === 'read' && isContent && isSure) for (const { found } of this.#open) found.read(path);
  }

  /** It runs a file, or a script of a package; the command does not show which files that touches. */
  runsUnseen(): void {
    this.effect({ kind: 'unknown' });
  }

  conclude() {
    const effects = [...this.#effects.values()];
    const secret = effects.find((one) => one.kind === 'read' && isSecret(one.path));
    if (secret !== undefined && 'path' in secret && effects.some(({ kind }) => kind === 'fetch'))
      this.ask(`It reads a secret (${secret.path}), and reaches other machines.`);
    const verdict: 'allow' | 'ask' | 'block' =
      this.#blocks.size > 0 ? 'block' : this.#asks.size > 0 ? 'ask' : 'allow';
    return {
      verdict,
      reasons: [...this.#blocks, ...this.#asks],
      commands: this.#commands.map(({ words }) => words),
      found: this.#commands.map((walked) => this.#toldOf(walked)),
      effects,
      settings: this.#settings,
    };
  }

  #toldOf({ fields, directory, found }: Walked) {
    const { reasons, reads, isUntold } = found;
    const told = [...found.effects.values()];
    const effects = told.map(({ effect }) => effect);
    const isPlain = fields.every(({ literal }) => literal);
    const marks =
      isPlain && this.#walkedWords.size === 0 ? [] : fields.map((field) => this.#markOf(field, directory));
    return {
      effects,
      touches: told.every(({ isOwn }) => isOwn)
        ? effects
        : told.filter(({ isOwn }) => isOwn).map(({ effect }) => effect),
      reasons: reasons === undefined ? [] : [...reasons],
      isUntold,
      ...(marks.some((mark) => mark !== undefined) ? { marks } : {}),
      ...(reads === undefined ? {} : { reads: [...reads] }),
    };
  }

  #markOf(field: Field, directory: string | undefined): WordMark | undefined {
    if (this.#walkedWords.has(field)) return 'walked';
    if (field.literal) return undefined;
    if (field.mayBeOptions) return 'unsure';
    if (!field.hasPattern) return field.exact === undefined ? 'partly' : undefined;
    const pattern = filePattern(field, directory);
    return pattern === undefined ? 'unsure' : { pattern };
  }
}

function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at]);
}

const MAX_REASONS = 32;

const IS_STREAM = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|u?random|fd\/\d+|tcp\/.*|udp\/.*)$/;
