import { parse } from 'smol-toml';

/** The position of a key and its sub-keys in the text. */
export interface KeyNode {
  /** The offset of its name's first occurrence. */
  readonly offset: number;
  readonly keys: ReadonlyMap<string, KeyNode>;
  /** The elements of a list or an array of tables. */
  readonly elements: readonly KeyNode[];
}

/**
 * The positions of all keys in a TOML document, which the parser does not report.
 * @param text accepted by the parser; the result for other text is undefined.
 */
export function scanKeys(text: string): KeyNode {
  return new KeyScanner(text).scan();
}

class Node implements KeyNode {
  readonly offset: number;
  keys: Map<string, Node> = NO_KEYS;
  elements: Node[] = NO_ELEMENTS;

  constructor(offset: number) {
    this.offset = offset;
  }

  child({ name, offset }: Segment): Node {
    const known = this.keys.get(name);
    if (known !== undefined) return known;
    const made = new Node(offset);
    if (this.keys === NO_KEYS) this.keys = new Map();
    this.keys.set(name, made);
    return made;
  }

  element(offset: number): Node {
    const made = new Node(offset);
    if (this.elements === NO_ELEMENTS) this.elements = [];
    this.elements.push(made);
    return made;
  }
}

// Most nodes are leaves and share this empty map. Never modified.
const NO_KEYS = new Map<string, Node>();
const NO_ELEMENTS: Node[] = [];

interface Segment {
  readonly name: string;
  readonly offset: number;
}

// Hand-written loops: a string of a megabyte is too long for a backtracking expression.
class KeyScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): KeyNode {
    const root = new Node(0);
    let table = root;
    for (this.#skipVoid(); this.#at < this.#text.length; this.#skipVoid()) {
      const start = this.#at;
      if (this.#skipIf('[')) table = this.#header(root);
      else this.#pair(table);
      if (this.#at === start) break;
    }
    return root;
  }

  #header(root: Node): Node {
    const isElement = this.#skipIf('[');
    const segments = this.#key();
    this.#skipIf(']');
    if (isElement) this.#skipIf(']');
    const table = descend(root, segments);
    return isElement ? table.element(segments.at(-1)?.offset ?? this.#at) : lastOf(table);
  }

  #pair(table: Node): void {
    const target = descend(table, this.#key());
    this.#skipIf('=');
    this.#value(target);
  }

  #value(node: Node): void {
    this.#skipAll(' \t');
    if (this.#skipIf('[')) this.#list(node);
    else if (this.#skipIf('{')) this.#inlineTable(node);
    else if (!this.#skipString()) this.#skipScalar();
  }

  #list(node: Node): void {
    for (this.#skipVoid(); this.#isBeforeElement(']'); this.#skipVoid()) {
      this.#value(node.element(this.#at));
      this.#skipVoid();
      if (!this.#skipIf(',')) break;
    }
    this.#skipIf(']');
  }

  #inlineTable(node: Node): void {
    for (this.#skipVoid(); this.#isBeforeElement('}'); this.#skipVoid()) {
      this.#pair(node);
      this.#skipVoid();
      if (!this.#skipIf(',')) break;
    }
    this.#skipIf('}');
  }

  #isBeforeElement(close: string): boolean {
    return this.#at < this.#text.length && this.#text[this.#at] !== close;
  }

  #key(): Segment[] {
    const segments: Segment[] = [];
    do {
      this.#skipAll(' \t');
      const offset = this.#at;
      const name = this.#keyName();
      if (name === undefined) break;
      segments.push({ name, offset });
      this.#skipAll(' \t');
    } while (this.#skipIf('.'));
    return segments;
  }

  #keyName(): string | undefined {
    const start = this.#at;
    if (this.#skipString()) return contentOf(this.#text.slice(start, this.#at));
    while (/^[A-Za-z0-9_-]$/.test(this.#text.charAt(this.#at))) this.#at++;
    return this.#at > start ? this.#text.slice(start, this.#at) : undefined;
  }

  #skipString(): boolean {
    const quote = this.#text[this.#at];
    if (quote !== '"' && quote !== "'") return false;
    const fence = quote.repeat(3);
    const close = this.#text.startsWith(fence, this.#at) ? fence : quote;
    this.#at += close.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(close, this.#at)) {
      this.#at += quote === '"' && this.#text[this.#at] === '\\' ? 2 : 1;
    }
    this.#at += close.length;
    // Up to two quotes before the closing three belong to the string.
    for (let more = 0; more < 2 && close === fence; more++) this.#skipIf(quote);
    return true;
  }

  #skipScalar(): void {
    while (this.#at < this.#text.length && !',]}#\n'.includes(this.#text.charAt(this.#at))) this.#at++;
  }

  /** Skips blanks, line ends and comments. */
  #skipVoid(): void {
    for (this.#skipAll(VOID); this.#text[this.#at] === '#'; this.#skipAll(VOID)) {
      const end = this.#text.indexOf('\n', this.#at);
      this.#at = end === -1 ? this.#text.length : end;
    }
  }

  #skipAll(chars: string): void {
    while (this.#at < this.#text.length && chars.includes(this.#text.charAt(this.#at))) this.#at++;
  }

  #skipIf(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }
}

const VOID = ' \t\r\n\ufeff';

function descend(table: Node, segments: readonly Segment[]): Node {
  // A name that is an array of tables refers to its last element.
  return segments.reduce((at, segment) => lastOf(at).child(segment), table);
}

function lastOf(node: Node): Node {
  return node.elements.at(-1) ?? node;
}

/** The content of a string literal. */
function contentOf(written: string): string {
  if (!written.includes('\\')) return written.slice(1, -1);
  const { content } = parse(`content = ${written}`);
  return typeof content === 'string' ? content : written;
}
