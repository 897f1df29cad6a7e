import { declaredBy, type Visibility, withoutComments, withoutEscapes } from './hiding-styles.js';

/** The facts about an element that a selector can name. */
export interface StyledElement {
  readonly name: string;
  readonly id: string | undefined;
  readonly classes: readonly string[];
}

/** `p.note#x`: every named part must fit. */
interface Compound {
  readonly name?: string;
  readonly id?: string;
  readonly classes: readonly string[];
}

interface StyleRule {
  /** From the element outwards. */
  readonly compounds: readonly Compound[];
  /** By compound: whether it must fit the parent of the one before, and not just any ancestor. */
  readonly isParent: readonly boolean[];
  readonly declared: Visibility;
  /** As in a browser: importance, specificity, order. */
  readonly rank: number;
}

/** A page could ask for billions of comparisons. Beyond this number, an element that any hiding rule may fit is hidden. */
const MOST_COMPARISONS = 2_000_000;
const MOST_RULES = 20_000;
const MOST_COMPOUNDS = 6;
/** Higher than the rank of any other rule. */
const IMPORTANT = 1e12;

/**
 * The rules of a page's style sheets that hide or show elements, by selectors of names, classes and ids, also below
 * others. Rules with other selectors, and those for small windows or printers, do not count.
 */
export class StyleRules {
  readonly #byKey = new Map<string, StyleRule[]>();
  readonly #hidingKeys = new Set<string>();
  #count = 0;
  #comparisons = 0;

  constructor(css: string) {
    readRules(css, (selectors, style) => this.#add(selectors, style));
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /**
   * The declarations that count for an element.
   * @param above its ancestors, the outermost first
   * @param inline its own style, which only important rules override
   */
  declaredFor(element: StyledElement, above: readonly StyledElement[], inline: Visibility = {}): Visibility {
    const winners: Partial<Record<keyof Visibility, StyleRule>> = {};
    for (const key of keysOf(element))
      for (const rule of this.#byKey.get(key) ?? []) {
        if (this.#comparisons > MOST_COMPARISONS)
          return this.#mayBeHidden(element) ? { ...inline, other: 'hidden' } : inline;
        if (!this.#isMatch(rule.compounds[0], element) || !this.#fits(rule, 1, above, above.length)) continue;
        for (const property of PROPERTIES) {
          const isLast = rule.rank >= (winners[property]?.rank ?? 0);
          if (isLast && rule.declared[property] !== undefined) winners[property] = rule;
        }
      }
    let counted = inline;
    for (const [property, { declared, rank }] of Object.entries(winners) as [keyof Visibility, StyleRule][])
      if (rank >= IMPORTANT || inline[property] === undefined)
        counted = { ...counted, [property]: declared[property] };
    return counted;
  }

  #mayBeHidden(element: StyledElement): boolean {
    return keysOf(element).some((key) => this.#hidingKeys.has(key));
  }

  #add(selectors: string, style: string): void {
    const declared = declaredBy(style);
    if (PROPERTIES.every((property) => declared[property] === undefined)) return;
    const isHiding = PROPERTIES.some((property) => declared[property] === 'hidden');
    const importance = /!\s*important/i.test(style) ? IMPORTANT : 0;
    for (const selector of selectors.split(',')) {
      const parsed = parseSelector(selector);
      const [subject] = parsed?.compounds ?? [];
      if (parsed === undefined || subject === undefined) continue;
      const key = keyOf(subject);
      if (isHiding) this.#hidingKeys.add(key);
      if (this.#count === MOST_RULES) this.#comparisons = Number.POSITIVE_INFINITY;
      else this.#count++;
      const rank = importance + specificityOf(parsed.compounds) * MOST_RULES + this.#count;
      const known = this.#byKey.get(key);
      if (known === undefined) this.#byKey.set(key, [{ ...parsed, declared, rank }]);
      else known.push({ ...parsed, declared, rank });
    }
  }

  /** Whether the compounds from `index` on fit ancestors further out than `at`. */
  #fits(rule: StyleRule, index: number, above: readonly StyledElement[], at: number): boolean {
    const compound = rule.compounds[index];
    if (compound === undefined) return true;
    const end = rule.isParent[index] === true ? Math.max(0, at - 1) : 0;
    for (let place = at - 1; place >= end && this.#comparisons <= MOST_COMPARISONS; place--)
      if (this.#isMatch(compound, above[place]) && this.#fits(rule, index + 1, above, place)) return true;
    return false;
  }

  #isMatch(compound: Compound | undefined, element: StyledElement | undefined): boolean {
    this.#comparisons++;
    if (compound === undefined || element === undefined) return false;
    const { name = element.name, id = element.id, classes } = compound;
    return (
      name === element.name && id === element.id && classes.every((one) => element.classes.includes(one))
    );
  }
}

const PROPERTIES = ['display', 'opacity', 'other', 'visibility', 'size', 'color', 'fill', 'clip'] as const;

/** An element is compared only with rules that name its id, one of its classes, or its name. */
function keysOf({ name, id, classes }: StyledElement): readonly string[] {
  return [name, '*', ...(id === undefined ? [] : [`#${id}`]), ...new Set(classes.map((one) => `.${one}`))];
}

function keyOf({ name = '*', id, classes: [first] }: Compound): string {
  if (id !== undefined) return `#${id}`;
  return first === undefined ? name : `.${first}`;
}

function specificityOf(compounds: readonly Compound[]): number {
  return compounds.reduce(
    (sum, { name, id, classes }) =>
      sum + (id === undefined ? 0 : 10_000) + classes.length * 100 + (name === undefined ? 0 : 1),
    0,
  );
}

/** Undefined: it names attributes, states or neighbours, or the whole page, which scripts often show. */
function parseSelector(selector: string): Pick<StyleRule, 'compounds' | 'isParent'> | undefined {
  const words = withoutEscapes(selector.slice(0, 500))
    .replace(/\s*>\s*/g, ' >')
    .trim()
    .split(/\s+/)
    .reverse();
  if (words.length > MOST_COMPOUNDS) return undefined;
  const compounds: Compound[] = [];
  for (const word of words) {
    const [, name = '', marks = ''] = /^>?([a-z][\w-]*|\*|)((?:[.#][\w-]+)*)$/i.exec(word) ?? [];
    if (name === '' && marks === '') return undefined;
    const parts = marks.match(/[.#][\w-]+/g) ?? [];
    const id = parts.find((part) => part.startsWith('#'))?.slice(1);
    compounds.push({
      ...(name === '' || name === '*' ? {} : { name: name.toLowerCase() }),
      ...(id === undefined ? {} : { id }),
      classes: parts.flatMap((part) => (part.startsWith('.') ? [part.slice(1)] : [])),
    });
  }
  const subject = compounds[0]?.name;
  if (subject === 'body' || subject === 'html') return undefined;
  return { compounds, isParent: [false, ...words.slice(0, -1).map((word) => word.startsWith('>'))] };
}

/** Blocks whose rules count for a reader in a large window. */
const READ_BLOCK =
  /^@(?:layer|supports|media(?:\s+only)?\s+(?:screen|all)|media\s*\()(?!.*(?:max-|print|not\s|prefers))/i;

interface Block {
  readonly before: string;
  readonly isAt: boolean;
  readonly isRead: boolean;
}

function readRules(text: string, take: (selectors: string, style: string) => void): void {
  const css = withoutComments(text).replace(/<!--|-->/g, ' ');
  const open: Block[] = [];
  let from = 0;
  for (let at = 0; at < css.length; at++) {
    const character = css[at];
    const around = open.at(-1);
    if (character === '{') {
      const given = css.slice(from, at).slice(-2_000);
      const before = given.slice(given.lastIndexOf(';') + 1).trim();
      const isAt = before.startsWith('@');
      const isRead = around?.isRead !== false && (!isAt || READ_BLOCK.test(before));
      const isNested = around !== undefined && !around.isAt && !isAt;
      open.push({ before: isNested ? nested(around.before, before) : before, isAt, isRead });
      from = at + 1;
    } else if (character === '}') {
      open.pop();
      if (around?.isRead === true && !around.isAt) take(around.before, css.slice(from, at));
      from = at + 1;
    } else if (character === ';' && around?.isAt !== false) from = at + 1;
  }
}

/** The selector of a rule inside another rule. A list of selectors around it is not followed. */
function nested(outer: string, inner: string): string {
  if (outer.includes(',') || outer.length > 500) return '';
  return inner.includes('&') ? inner.replaceAll('&', outer) : `${outer} ${inner}`;
}
