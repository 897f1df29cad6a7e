import { type Handler, Parser } from 'htmlparser2';
import { parseHTML } from 'linkedom/worker';
import { yieldToLoop } from '../yield-to-loop.js';
import { declaredBy, type TextVisibility, type Visibility } from './hiding-styles.js';
import { type StyledElement, StyleRules } from './style-rules.js';

/** The used part of a tree's elements and texts: the types of linkedom need those of a browser. */
export interface PageNode {
  readonly nodeType: number;
  readonly nodeName: string;
  textContent: string | null;
  readonly parentNode: PageNode | null;
  readonly childNodes: Iterable<PageNode>;
  appendChild(child: PageNode): unknown;
  insertBefore(child: PageNode, before: PageNode | null): unknown;
  removeChild(child: PageNode): unknown;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelectorAll(selector: string): Iterable<PageNode>;
}

export interface Page {
  readonly body: PageNode;
  createElement(name: string): PageNode;
  createTextNode(text: string): PageNode;
  querySelectorAll(selector: string): Iterable<PageNode>;
  cloneNode(deep: boolean): unknown;
}

export interface VisiblePage {
  readonly document: Page;
  readonly title: string;
  /** The base of the page's relative links, as written; empty: the page's own address. */
  readonly base: string;
  /** Elements that a reader of the page does not see. */
  readonly hidden: number;
}

/**
 * Later steps build trees of these elements: the text of deeper or further elements is kept without
 * structure.
 */
const MOST_ELEMENTS = 20_000;
const DEEPEST = 100;
/** For one element: the conversion to Markdown counts the neighbours of each element. */
const MOST_CHILDREN = 2_500;
/** Per slice: the program has other work, and the call may be cancelled. */
const SLICE = 4_096;
/** The parser takes time for every open element, so beyond this number it starts again. */
const MOST_OPEN = 512;

/** Elements whose content is not shown, or is not text. */
const NEVER_SHOWN = new Set([
  ...[
    'script',
    'style',
    'template',
    'noscript',
    'iframe',
    'object',
    'embed',
    'svg',
    'canvas',
    'annotation-xml',
    'audio',
    'video',
  ],
  ...[
    'head',
    'meta',
    'link',
    'base',
    'input',
    'select',
    'datalist',
    'textarea',
    'map',
    'noembed',
    'noframes',
    'progress',
    'meter',
  ],
]);
/** Elements that belong to the head of a page. */
const IN_HEAD = new Set(['base', 'link', 'meta', 'noscript', 'script', 'style', 'template', 'title']);
const VOID = new Set(['br', 'hr', 'img', 'wbr', 'col', 'area', 'source', 'track', 'param']);
const KEPT_ATTRIBUTES = new Set(['href', 'src', 'alt', 'colspan', 'rowspan', 'class', 'id', 'lang', 'start']);

/**
 * The part of a page that a reader sees, as a tree: no scripts, comments or styles, and nothing hidden by an
 * attribute, an inline style, or the page's own style sheet (`StyleRules`). In linear time for any
 * input: the tree is neither deep nor large.
 * @param isXml in XHTML sent as such, `<script/>` ends itself
 */
export async function visiblePage(html: string, signal: AbortSignal, isXml = false): Promise<VisiblePage> {
  const styles = new StyleTexts();
  await parseInSlices(html, styles, { signal, isXml });
  const page = new PageBuilder(new StyleRules(styles.text));
  await parseInSlices(html, page, { signal, isXml });
  page.finish();
  const { document, hidden, base } = page;
  return { document, title: page.title.replace(/\s+/g, ' ').trim().slice(0, 500), base, hidden };
}

interface PageReader {
  readonly handler: Partial<Handler>;
  /** The open elements. */
  readonly open: number;
  /** Closes all elements that it has opened, because their end tags will not come. */
  closeAll(): void;
}

interface Parsing {
  readonly signal: AbortSignal;
  readonly isXml: boolean;
}

async function parseInSlices(html: string, reader: PageReader, { signal, isXml }: Parsing): Promise<void> {
  const options = { recognizeSelfClosing: isXml, recognizeCDATA: isXml };
  let parser = new Parser(reader.handler, options);
  let begun = 0;
  for (let at = 0, end = 0; at < html.length; at = end) {
    // A position after a tag, where the parser can start again.
    end = at + SLICE >= html.length ? html.length : html.lastIndexOf('>', at + SLICE) + 1;
    if (end <= at) end = at + SLICE;
    parser.write(html.slice(at, end));
    // Not inside a comment or a tag: the rest of it would be read as text of the page.
    if (reader.open > MOST_OPEN && begun + parser.endIndex + 1 === end) {
      reader.closeAll();
      parser = new Parser(reader.handler, options);
      begun = end;
    }
    await yieldToLoop({ signal });
  }
  parser.end();
}

class StyleTexts implements PageReader {
  text = '';
  open = 0;
  #inStyle = false;
  readonly handler: Partial<Handler> = {
    onopentag: (name) => {
      this.open++;
      this.#inStyle = name === 'style';
    },
    ontext: (text) => {
      if (this.#inStyle) this.text += text;
    },
    onclosetag: () => {
      this.open--;
      this.#inStyle = false;
    },
  };

  closeAll(): void {
    this.open = 0;
  }
}

interface OpenElement extends StyledElement {
  readonly isWritten: boolean;
  /** It hides all of its content. */
  readonly hides: boolean;
  /** The visibility of text in it, unless an element inside changes that. */
  readonly text: TextVisibility;
}

class PageBuilder implements PageReader {
  readonly document: Page = parseHTML('<!doctype html><html><head></head><body></body></html>').document;
  title = '';
  base = '';
  hidden = 0;
  #elements = 0;
  #depth = 0;
  #at: PageNode = this.document.body;
  #words = '';
  /** The number of elements in each open one, starting with the page's body. */
  readonly #children = [0];
  /** Inside elements that are not shown. */
  #unseen = 0;
  #inTitle = false;
  /** Of text outside all open elements. */
  #around: TextVisibility = {};
  readonly #open: OpenElement[] = [];
  readonly #rules: StyleRules;
  readonly handler: Partial<Handler> = {
    onopentag: (name, attributes) => this.#opened(name, attributes),
    ontext: (text) => this.#text(text),
    onclosetag: () => this.#closed(),
  };

  constructor(rules: StyleRules) {
    this.#rules = rules;
  }

  get open(): number {
    return this.#open.length;
  }

  // Hidden content stays hidden, because its end is no longer known.
  closeAll(): void {
    const unseen = this.#unseen;
    this.#around = this.#textHere;
    while (this.#open.length > 0) this.#closed();
    this.#unseen = unseen;
  }

  get #textHere(): TextVisibility {
    return this.#open.at(-1)?.text ?? this.#around;
  }

  finish(): void {
    this.#flush();
  }

  #opened(name: string, attributes: Readonly<Record<string, string>>): void {
    if (!IN_HEAD.has(name)) this.#leaveHead();
    if (name === 'base' && this.base === '') this.base = attributes.href ?? '';
    this.#inTitle = name === 'title' && this.title === '';
    const never = NEVER_SHOWN.has(name);
    const styled = this.#styled(name, attributes);
    const isTask = this.#isTask(name, attributes);
    const declared = never && !isTask ? {} : this.#declaredFor(styled, attributes);
    const isHidden =
      declared.display === 'hidden' || declared.opacity === 'hidden' || declared.other === 'hidden';
    const around = this.#textHere;
    const text = inheritText(around, declared);
    // A picture has neither letters nor their color.
    const isFaint = name === 'img' ? text.visibility === 'hidden' : isUnreadable(text);
    if (isTask && !isHidden && !isFaint) this.#words += attributes.checked === undefined ? '☐ ' : '☑ ';
    if ((isHidden || (isFaint && !isUnreadable(around))) && this.#unseen === 0) this.hidden++;
    const hides = never || isHidden;
    if (hides) this.#unseen++;
    const isWritten =
      this.#unseen === 0 &&
      !(isFaint && name === 'img') &&
      ELEMENT.test(name) &&
      this.#depth < DEEPEST &&
      this.#elements < MOST_ELEMENTS &&
      (this.#children.at(-1) ?? 0) < MOST_CHILDREN;
    this.#open.push({ ...styled, isWritten, hides, text });
    if (!isWritten) {
      // Words of neighbours must not run together if their elements are left out.
      if (this.#unseen === 0) this.#words += ' ';
      return;
    }
    this.#flush();
    const element = this.document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (KEPT_ATTRIBUTES.has(key)) element.setAttribute(key, value.slice(0, 2_000));
    }
    this.#at.appendChild(element);
    this.#elements++;
    this.#children.push((this.#children.pop() ?? 0) + 1);
    if (VOID.has(name)) return;
    this.#children.push(0);
    this.#depth++;
    this.#at = element;
  }

  /** The box of a task begins an item of a list. Other boxes often only open menus. */
  #isTask(name: string, { type = '' }: Readonly<Record<string, string>>): boolean {
    if (name !== 'input' || type.toLowerCase() !== 'checkbox' || this.#unseen > 0) return false;
    const { nodeName, parentNode, textContent } = this.#at;
    const isInItem = nodeName === 'LI' || (IN_ITEM.has(nodeName) && parentNode?.nodeName === 'LI');
    return isInItem && `${textContent ?? ''}${this.#words}`.trim() === '';
  }

  #text(text: string): void {
    if (text.trim() !== '') this.#leaveHead();
    if (this.#inTitle) this.title += text;
    else if (this.#unseen === 0 && !isUnreadable(this.#textHere)) this.#words += text;
  }

  /** The end tag of the head may be left out: other content begins the visible part. */
  #leaveHead(): void {
    const element = this.#open.at(-1);
    if (element?.name !== 'head' || !element.hides) return;
    this.#open[this.#open.length - 1] = { ...element, hides: false };
    this.#unseen--;
  }

  #closed(): void {
    this.#inTitle = false;
    const element = this.#open.pop();
    if (element?.hides === true) this.#unseen--;
    if (element?.isWritten !== true || VOID.has(element.name)) return;
    this.#flush();
    this.#depth--;
    this.#children.pop();
    this.#at = this.#at.parentNode ?? this.document.body;
  }

  /**
   * Adjacent texts become one. Text between the cells of a table becomes a cell, because table readers accept nothing
   * else there.
   */
  #flush(): void {
    if (this.#words === '') return;
    const around = BETWEEN_CELLS.get(this.#at.nodeName.toLowerCase());
    if (around === undefined || this.#words.trim() !== '') {
      let at = this.#at;
      for (const name of around ?? []) {
        const element = this.document.createElement(name);
        at.appendChild(element);
        at = element;
      }
      at.appendChild(this.document.createTextNode(this.#words));
    }
    this.#words = '';
  }

  #styled(name: string, { id, class: names = '' }: Readonly<Record<string, string>>): StyledElement {
    const classes = this.#rules.isEmpty ? [] : names.slice(0, 2_000).split(/\s+/);
    return { name, id, classes };
  }

  #declaredFor(styled: StyledElement, attributes: Readonly<Record<string, string>>): Visibility {
    const { style } = attributes;
    if (isHiddenAlone(styled.name, attributes)) return { other: 'hidden' };
    const inline = style === undefined ? undefined : declaredBy(style.slice(0, 2_000));
    return this.#rules.declaredFor(styled, this.#open, inline);
  }
}

/** Whether a browser hides the element without any style, until something opens it. */
function isHiddenAlone(name: string, attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, open, popover, encoding = '' } = attributes;
  if (hidden !== undefined && hidden.toLowerCase() !== 'until-found') return true;
  if (popover !== undefined || (name === 'dialog' && open === undefined)) return true;
  // The source of a formula says more than its letters. Like the alternative text of a picture, it is kept.
  return name === 'annotation' && !/tex/i.test(encoding);
}

function inheritText(around: TextVisibility, declared: TextVisibility): TextVisibility {
  let text = around;
  for (const property of INHERITED) {
    const own = declared[property];
    if (own !== undefined && own !== 'inherited' && own !== text[property])
      text = { ...text, [property]: own };
  }
  return text;
}

const INHERITED = ['visibility', 'size', 'color', 'fill', 'clip'] as const;

function isUnreadable({ visibility, size, color, fill, clip }: TextVisibility): boolean {
  if (visibility === 'hidden' || size === 'hidden') return true;
  return clip !== 'shown' && (fill === undefined || fill === 'color' ? color : fill) === 'hidden';
}

const BETWEEN_CELLS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['tr', ['td']],
  ...['table', 'tbody', 'thead', 'tfoot'].map((name) => [name, ['tr', 'td']] as const),
]);

const IN_ITEM: ReadonlySet<string> = new Set(['LABEL', 'P', 'SPAN']);

const ELEMENT = /^[a-z][a-z0-9-]{0,30}$/;
