import type { Effect } from '../../../contract/effect.js';
import type { Field } from './field.js';
import { effectPath } from './place.js';
import type { Scope } from './scope.js';

/** What the analysis gathers; it only ever gets worse. */
export class Findings {
  readonly #blocks = new Set<string>();
  readonly #asks = new Set<string>();
  readonly #commands: string[][] = [];
  readonly #seen = new Map<object, Set<string>>();
  /** With the option that has it; undefined: not an option alone. */
  readonly #effects = new Map<string, { readonly effect: Effect; readonly word: string | undefined }>();
  readonly #settings: { readonly texts: readonly string[]; readonly command?: readonly string[] }[] = [];
  #option: string | undefined;

  block(reason: string): void {
    if (this.#blocks.size < MAX_REASONS) this.#blocks.add(`Command blocked as dangerous: ${reason}`);
  }

  ask(reason: string): void {
    if (this.#asks.size < MAX_REASONS) this.#asks.add(reason);
  }

  /** A loop or a function is walked more than once: the same command of the same place counts once. */
  record(place: object, words: readonly Field[], settings: readonly string[] = []): void {
    const texts = words.map(({ shown }) => shown);
    const key = [...texts, '', ...settings].join('\0');
    const keys = this.#seen.get(place) ?? new Set();
    if (keys.has(key)) return;
    this.#seen.set(place, keys.add(key));
    this.#commands.push(texts);
    if (settings.length > 0) this.#settings.push({ texts: settings, command: texts });
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
      commands: this.#commands,
      effects: effects.map(({ effect }) => effect),
      settings: this.#settings,
      byOption: effects.flatMap(({ effect, word }) => (word === undefined ? [] : [{ effect, word }])),
    };
  }
}

const MAX_REASONS = 32;

const IS_STREAM = /^\/dev\/(?:null|zero|full|tty|std(?:in|out|err)|u?random|fd\/\d+|tcp\/.*|udp\/.*)$/;
