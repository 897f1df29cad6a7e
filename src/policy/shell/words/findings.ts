import type { Effect } from '../../../contract/effect.js';
import type { Field } from './field.js';
import { effectPath } from './place.js';
import type { Scope } from './scope.js';

/** A simple command, with what was found while it was walked: what it starts counts as its own too. */
interface Walked {
  readonly words: readonly string[];
  readonly effects: Map<string, Effect>;
  readonly reasons: Set<string>;
  isUntold: boolean;
}

interface Open {
  walked: Walked | undefined;
  readonly found: Omit<Walked, 'words'>;
}

/** What the analysis gathers; it only ever gets worse. */
export class Findings {
  readonly #blocks = new Set<string>();
  readonly #asks = new Set<string>();
  readonly #commands: Walked[] = [];
  readonly #seen = new Map<object, Map<string, Walked>>();
  /** Commands that are being walked, the innermost last; one that is not recorded yet is undefined. */
  readonly #open: Open[] = [];
  /** With the option that has it; undefined: not an option alone. */
  readonly #effects = new Map<string, { readonly effect: Effect; readonly word: string | undefined }>();
  readonly #settings: { readonly texts: readonly string[]; readonly command?: readonly string[] }[] = [];
  #option: string | undefined;

  block(reason: string): void {
    this.#reason(this.#blocks, `Command blocked as dangerous: ${reason}`);
  }

  ask(reason: string): void {
    this.#reason(this.#asks, reason);
  }

  #reason(reasons: Set<string>, reason: string): void {
    if (reasons.size >= MAX_REASONS) return;
    reasons.add(reason);
    for (const { found } of this.#open) found.reasons.add(reason);
  }

  /** Walks a simple command with its redirections: what is found meanwhile belongs to the command that `run` records. */
  walk<T>(run: () => T): T {
    const found = { effects: new Map<string, Effect>(), reasons: new Set<string>(), isUntold: false };
    const open: Open = { walked: undefined, found };
    this.#open.push(open);
    try {
      return run();
    } finally {
      this.#open.pop();
      const { walked } = open;
      for (const [key, effect] of found.effects) walked?.effects.set(key, effect);
      for (const reason of found.reasons) walked?.reasons.add(reason);
      if (walked !== undefined) walked.isUntold ||= found.isUntold;
    }
  }

  /** A loop or a function is walked more than once: the same command of the same place counts once. */
  record(place: object, words: readonly Field[], settings: readonly string[] = []): void {
    const texts = words.map(({ shown }) => shown);
    const key = [...texts, '', ...settings].join('\0');
    const known = this.#seen.get(place)?.get(key);
    const walked = known ?? { words: texts, effects: new Map(), reasons: new Set(), isUntold: false };
    const innermost = this.#open.at(-1);
    if (innermost !== undefined) innermost.walked ??= walked;
    if (known !== undefined) return;
    this.#seen.set(place, (this.#seen.get(place) ?? new Map<string, Walked>()).set(key, walked));
    this.#commands.push(walked);
    if (settings.length > 0) this.#settings.push({ texts: settings, command: walked.words });
  }

  /** A variable that is set for what follows. */
  setting(text: string): void {
    if (!this.#settings.some(({ texts, command }) => command === undefined && texts[0] === text))
      this.#settings.push({ texts: [text] });
  }

  /** What is touched meanwhile is touched by this option. */
  byOption(option: string, run: () => void): void {
    const before = this.#option;
    this.#option = option;
    run();
    this.#option = before;
  }

  effect(effect: Effect): void {
    const key = JSON.stringify(effect);
    const known = this.#effects.get(key);
    const word = known !== undefined && known.word === undefined ? undefined : this.#option;
    this.#effects.set(key, { effect, word });
    for (const { found } of this.#open) found.effects.set(key, effect);
  }

  /** The command that is walked may touch more than its words tell. */
  untold(): void {
    for (const { found } of this.#open) found.isUntold = true;
  }

  /** A path that cannot be told is an effect that cannot be told. */
  touches(kind: 'read' | 'write' | 'delete', field: Field, scope: Scope): void {
    for (const directory of [scope.directory, ...scope.elsewhere]) {
      const path = effectPath(field, directory);
      if (path === undefined) this.runsUnseen();
      else if (!IS_STREAM.test(path)) this.effect({ kind, path });
    }
  }

  /** A file, or what a package calls its script, is run: what it touches is not told by the command. */
  runsUnseen(): void {
    this.effect({ kind: 'unknown' });
  }

  conclude() {
    const verdict: 'allow' | 'ask' | 'block' =
      this.#blocks.size > 0 ? 'block' : this.#asks.size > 0 ? 'ask' : 'allow';
    const effects = [...this.#effects.values()];
    return {
      verdict,
      reasons: [...this.#blocks, ...this.#asks],
      commands: this.#commands.map(({ words }) => words),
      found: this.#commands.map(({ effects: own, reasons, isUntold }) => ({
        effects: [...own.values()],
        reasons: [...reasons],
        isUntold,
      })),
      effects: effects.map(({ effect }) => effect),
      settings: this.#settings,
      byOption: effects.flatMap(({ effect, word }) => (word === undefined ? [] : [{ effect, word }])),
    };
  }
}

const MAX_REASONS = 32;

const IS_STREAM = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|u?random|fd\/\d+|tcp\/.*|udp\/.*)$/;
