import type { PolicyQuestion } from '../../contract/policy.js';
import type { PathPattern } from '../matching/path-pattern.js';
import { foldName } from '../matching/path-subject.js';
import type { CallPart } from '../rules/call-part.js';
import type { RuleEntry } from '../rules/compile-rule.js';
import { ARGUMENT_FIELDS, type CompiledRule } from '../rules/compile-rule.js';
import { precisionOf } from './precedence.js';

/**
 * Finds the rules that may match a part of a call without testing all of them: by tool, then by program,
 * directory, file name or host. It never misses one; its results are matched in full.
 */
export class RuleIndex {
  readonly #ofTool = new Map<string, Shelf>();
  readonly #ofAnyTool = new Shelf();
  readonly #byField = new Map<string, RuleEntry[]>();

  constructor(rules: readonly CompiledRule[]) {
    for (const rule of rules) {
      for (const entry of entriesOf(rule)) {
        if (entry.argument !== undefined) this.#file(entry.argument.field, entry);
        if (rule.toolNames === undefined) this.#ofAnyTool.add(entry);
        else for (const name of rule.toolNames) this.#shelf(name).add(entry);
      }
    }
  }

  /** Calls `take` with each entry that may match, possibly more than once. */
  find({ name, aliases }: PolicyQuestion, part: CallPart, take: (entry: RuleEntry) => void): void {
    this.#ofTool.get(name)?.find(part, take);
    if (aliases !== undefined) for (const alias of aliases) this.#ofTool.get(alias)?.find(part, take);
    this.#ofAnyTool.find(part, take);
  }

  /** Every entry with a pattern in this field. */
  withField(field: 'path' | 'command' | 'url'): readonly RuleEntry[] {
    return this.#byField.get(field) ?? [];
  }

  #file(field: string, entry: RuleEntry): void {
    const known = this.#byField.get(field);
    if (known === undefined) this.#byField.set(field, [entry]);
    else known.push(entry);
  }

  #shelf(name: string): Shelf {
    const known = this.#ofTool.get(name);
    if (known !== undefined) return known;
    const shelf = new Shelf();
    this.#ofTool.set(name, shelf);
    return shelf;
  }
}

/** One entry per pattern of the rule; a rule with two kinds of patterns matches nothing. */
export function entriesOf(rule: CompiledRule): readonly RuleEntry[] {
  const kinds = ARGUMENT_FIELDS.filter((field) => rule.rule[field] !== undefined);
  if (kinds.length > 1) return [];
  const patterns = kinds.length === 0 ? [undefined] : rule.arguments;
  return patterns.map((argument) => {
    const bare: RuleEntry = { rule, argument, precision: [] };
    return { ...bare, precision: precisionOf(bare) };
  });
}

class Shelf {
  /** Rules without a pattern, which may match any part. */
  readonly #plain: RuleEntry[] = [];
  /** Rules about text in a command. */
  readonly #texts: RuleEntry[] = [];
  readonly #commands = new Drawer();
  readonly #hosts = new Drawer();
  readonly #paths = { absolute: new Drawer(), relative: new Drawer(), anywhere: new Drawer() };

  add(entry: RuleEntry): void {
    const { rule, argument } = entry;
    if (argument === undefined) (rule.contains === undefined ? this.#plain : this.#texts).push(entry);
    else if (argument.field === 'command') this.#commands.add(argument.pattern.program, entry);
    else if (argument.field === 'url') {
      this.#hosts.add(argument.pattern.kind === 'any' ? undefined : argument.pattern.host, entry);
    } else this.#paths[argument.pattern.subject].add(pathKey(argument.pattern), entry);
  }

  find(part: CallPart, take: (entry: RuleEntry) => void): void {
    for (const entry of this.#plain) take(entry);
    if (part.path !== undefined) this.#findPath(part.path, take);
    else if (part.url !== undefined) this.#findHost(part.url.host, take);
    else if (part.run !== undefined && part.seen === undefined) {
      for (const entry of this.#texts) take(entry);
      this.#findCommand(part.words?.[0], take);
    }
  }

  #findCommand(program: string | undefined, take: (entry: RuleEntry) => void): void {
    this.#commands.rest(take);
    if (program === undefined) return;
    this.#commands.keyed(program, take);
    if (program.includes('/')) this.#commands.keyed(program.slice(program.lastIndexOf('/') + 1), take);
  }

  #findHost(host: string, take: (entry: RuleEntry) => void): void {
    this.#hosts.rest(take);
    for (let at = 0; at !== -1 && at < host.length; at = nextName(host, at))
      this.#hosts.keyed(host.slice(at), take);
  }

  #findPath(path: NonNullable<CallPart['path']>, take: (entry: RuleEntry) => void): void {
    for (const kind of PATH_KINDS) {
      const drawer = this.#paths[kind];
      drawer.rest(take);
      if (!drawer.hasKeys) continue;
      for (const form of path.forms(kind, true)) {
        if (kind === 'anywhere') for (const name of form) drawer.keyed(name, take);
        else findByHead(drawer, form, take);
      }
    }
  }
}

const PATH_KINDS = ['absolute', 'relative', 'anywhere'] as const;
/** How many parts of a path form a key. */
const HEAD = 4;

function findByHead(drawer: Drawer, form: readonly string[], take: (entry: RuleEntry) => void): void {
  let key = '';
  for (let part = 0; part < form.length && part < HEAD; part++) {
    key += `/${form[part]}`;
    drawer.keyed(key, take);
  }
}

function pathKey({ head, name }: PathPattern): string | undefined {
  if (name !== undefined) return foldName(name);
  if (head.length === 0) return undefined;
  return head
    .slice(0, HEAD)
    .map((part) => `/${foldName(part)}`)
    .join('');
}

/** Entries by key, and those without a key. */
class Drawer {
  readonly #keyed = new Map<string, RuleEntry[]>();
  readonly #rest: RuleEntry[] = [];

  get hasKeys(): boolean {
    return this.#keyed.size > 0;
  }

  add(key: string | undefined, entry: RuleEntry): void {
    if (key === undefined) this.#rest.push(entry);
    else {
      const known = this.#keyed.get(key);
      if (known === undefined) this.#keyed.set(key, [entry]);
      else known.push(entry);
    }
  }

  keyed(key: string, take: (entry: RuleEntry) => void): void {
    const found = this.#keyed.get(key);
    if (found !== undefined) for (const entry of found) take(entry);
  }

  rest(take: (entry: RuleEntry) => void): void {
    for (const entry of this.#rest) take(entry);
  }
}

function nextName(host: string, at: number): number {
  const dot = host.indexOf('.', at);
  return dot === -1 ? -1 : dot + 1;
}
