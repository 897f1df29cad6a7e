import type { RuleEntry } from '../rules/rule-entry.js';

/** How many patterns with wildcards are tried on how many without at most: beyond, only equal ones are compared. */
const MAX_PAIRS = 4_000_000;

/** Finds the rules that may match whatever another matches, without comparing each with each. */
export class BroaderRules {
  /** Without a pattern, by each tool that they name; under the empty name those that name none. */
  readonly #plain = new Map<string, RuleEntry[]>();
  readonly #bySource = new Map<string, RuleEntry[]>();
  readonly #wild: readonly RuleEntry[];

  constructor(entries: readonly RuleEntry[]) {
    for (const entry of entries) {
      if (entry.argument !== undefined) add(this.#bySource, sourceOf(entry), entry);
      else for (const name of entry.rule.toolNames ?? ['']) add(this.#plain, name, entry);
    }
    const wild = entries.filter(({ argument }) => argument !== undefined && !argument.pattern.isLiteral);
    this.#wild = wild.length * (entries.length - wild.length) > MAX_PAIRS ? [] : wild;
  }

  find(inner: RuleEntry, isIt: (outer: RuleEntry) => boolean): RuleEntry | undefined {
    // Whoever covers all the tools of a rule covers the first.
    const [tool = ''] = inner.rule.toolNames ?? [];
    const { argument } = inner;
    return (
      this.#plain.get('')?.find(isIt) ??
      (tool === '' ? undefined : this.#plain.get(tool)?.find(isIt)) ??
      (argument === undefined ? undefined : this.#bySource.get(sourceOf(inner))?.find(isIt)) ??
      (argument?.pattern.isLiteral === true ? this.#wild.find(isIt) : undefined)
    );
  }
}

function sourceOf({ argument }: RuleEntry): string {
  return argument === undefined ? '' : `${argument.field} ${argument.pattern.source}`;
}

function add(map: Map<string, RuleEntry[]>, key: string, entry: RuleEntry): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [entry]);
  else known.push(entry);
}
