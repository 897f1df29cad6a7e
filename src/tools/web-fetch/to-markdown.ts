import { gfm } from '@joplin/turndown-plugin-gfm';
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import TurndownService from 'turndown';
import { parseUrl } from '../../base/parse-url.js';
import { shapeBlocks } from './shape-blocks.js';
import { type Page, type PageNode, visiblePage } from './visible-page.js';

export interface PageText {
  readonly text: string;
  readonly title: string;
  readonly hidden: number;
  /** Only the main content: navigation and similar parts are left out. */
  readonly isArticle: boolean;
}

interface PageRequest {
  readonly format: 'markdown' | 'text';
  readonly url: string;
  readonly signal: AbortSignal;
  /** The page was sent as XHTML. */
  readonly isXml?: boolean;
}

/**
 * A page as Markdown or as plain text: the part that a reader sees, and of that the main content, if the page
 * has one.
 */
export async function pageText(html: string, { format, url, signal, isXml }: PageRequest): Promise<PageText> {
  const visible = await visiblePage(html, signal, isXml);
  const { document } = visible;
  shapeBlocks(document);
  const whole = lengthOf(document.body);
  const base = parseUrl(visible.base, url)?.href ?? url;
  resolveLinks(document, base);
  giveTablesRows(document);
  const article = mainPart(document, whole);
  const root = article ?? document.body;
  const shown = format === 'markdown' ? toMarkdown(root) : toText(root);
  const text = shown.trim() === '' ? leadingOn(html, base) : shown;
  return {
    text: article === undefined ? text : withTitle(text, visible.title, format),
    title: visible.title,
    hidden: visible.hidden,
    isArticle: article !== undefined,
  };
}

/** For a page without text: it may only lead to another page, as a redirect does, or show other pages in frames. */
function leadingOn(html: string, base: string): string {
  const targets = new Set<string>();
  for (const [tag, name = ''] of html.matchAll(/<(meta|i?frame)\b[^>]{0,1000}>/gi)) {
    const written = name.toLowerCase() === 'meta' ? refreshIn(tag) : sourceIn(tag);
    const target = written === undefined ? undefined : absolute(written.replaceAll('&amp;', '&'), base);
    if (target !== undefined) targets.add(target);
  }
  const shown = [...targets].slice(0, MOST_TARGETS);
  return shown.length === 0 ? '' : `The page shows no text, and leads to ${shown.join(', ')}`;
}

const MOST_TARGETS = 10;

function refreshIn(tag: string): string | undefined {
  if (!/\bhttp-equiv\s*=\s*["']?refresh\b/i.test(tag)) return undefined;
  return /\d\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'\s>]+)/i.exec(tag)?.[1];
}

function sourceIn(tag: string): string | undefined {
  return /\ssrc\s*=\s*["']?([^"'\s>]+)/i.exec(tag)?.[1];
}

function lengthOf({ textContent }: PageNode): number {
  return (textContent ?? '').trim().length;
}

/** Undefined: the page has none, or it would leave most of the page out. */
function mainPart(document: Page, whole: number): PageNode | undefined {
  if (whole < 1_000 || !isProbablyReaderable(document)) return undefined;
  const article = new Readability<PageNode>(document.cloneNode(true), {
    serializer: (node) => node as PageNode,
    keepClasses: false,
  }).parse();
  const part = article?.content;
  if (part === undefined || part === null) return undefined;
  return lengthOf(part) * 3 < whole ? undefined : part;
}

function resolveLinks(document: Page, base: string): void {
  for (const [name, attribute] of [
    ['a', 'href'],
    ['img', 'src'],
  ] as const) {
    for (const element of document.querySelectorAll(name)) {
      const written = element.getAttribute(attribute) ?? '';
      const target = written === '' ? undefined : absolute(written, base);
      if (target === undefined) element.removeAttribute(attribute);
      else element.setAttribute(attribute, target);
    }
  }
}

/** Undefined: an address that cannot be fetched or written to (`javascript:`, `data:`). */
function absolute(written: string, base: string): string | undefined {
  try {
    const { protocol, href } = new URL(written, parseUrl(base));
    return ['http:', 'https:', 'mailto:', 'tel:'].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

/** The rules for tables need `rows`, which the tree itself does not have. */
function giveTablesRows(document: Page): void {
  const table = document.createElement('table');
  const prototype: object = Object.getPrototypeOf(table);
  if ('rows' in prototype) return;
  // The rules ask once for each row and cell.
  const known = new WeakMap<PageNode, unknown>();
  Object.defineProperty(prototype, 'rows', {
    get(this: PageNode) {
      if (!known.has(this)) known.set(this, this.querySelectorAll('tr'));
      return known.get(this);
    },
  });
}

function toMarkdown(root: PageNode): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    emDelimiter: '*',
  });
  service.use(gfm);
  service.addRule('disclosure', {
    filter: ['details', 'summary'],
    replacement: (content) => `\n\n${content}\n\n`,
  });
  service.addRule('cells', {
    filter({ nodeName, parentNode }) {
      if (CELLS.has(nodeName) && parentNode !== null) listOnce(parentNode);
      return false;
    },
    replacement: (content) => content,
  });
  return service.turndown(root as unknown as TurndownService.Node).trim();
}

const CELLS = new Set(['TD', 'TH']);

/**
 * The rules for tables list a row's cells several times for each cell, and the tree is traversed each time: 2,500 cells
 * of one row took seconds. The conversion changes no row, so the list is cached.
 */
function listOnce(row: { readonly childNodes: Iterable<unknown> }): void {
  if (!Object.hasOwn(row, 'childNodes'))
    Object.defineProperty(row, 'childNodes', { value: [...row.childNodes] });
}

const BLOCKS = new Set([
  ...[
    'ADDRESS',
    'ARTICLE',
    'ASIDE',
    'BLOCKQUOTE',
    'CAPTION',
    'DD',
    'DETAILS',
    'DIV',
    'DL',
    'DT',
    'FIELDSET',
    'FIGCAPTION',
    'FIGURE',
  ],
  ...['FOOTER', 'FORM', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'HEADER', 'HR', 'LI', 'MAIN', 'NAV', 'OL', 'P'],
  ...['PRE', 'SECTION', 'SUMMARY', 'TABLE', 'TR', 'UL'],
]);

function toText(root: PageNode): string {
  const parts: string[] = [];
  const walk = (node: PageNode, inPre: boolean): void => {
    if (node.nodeType === 3) {
      const text = node.textContent ?? '';
      parts.push(inPre ? text.replace(/\0/g, '').replace(/^[ \t]+/gm, held) : text.replace(/\s+/g, ' '));
      return;
    }
    const name = node.nodeName.toUpperCase();
    if (name === 'BR') parts.push('\n');
    const isBlock = BLOCKS.has(name);
    if (isBlock) parts.push('\n');
    for (const child of node.childNodes) walk(child, inPre || name === 'PRE');
    if (isBlock) parts.push('\n');
    else if (name === 'TD' || name === 'TH') parts.push('\t');
  };
  walk(root, false);
  return parts
    .join('')
    .replace(/[ \t]*\n[ \t]*/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
    .replace(/\0[st]/g, (sign) => (sign === HELD_SPACE ? ' ' : '\t'));
}

/** The indentation of code, which the removal of white space must not see. */
function held(indentation: string): string {
  return indentation.replaceAll(' ', HELD_SPACE).replaceAll('\t', '\0t');
}

const HELD_SPACE = '\0s';

/** The article reader removes the title. */
function withTitle(text: string, title: string, format: 'markdown' | 'text'): string {
  if (title === '' || text.slice(0, title.length + 10).includes(title)) return text;
  return `${format === 'markdown' ? '# ' : ''}${title}\n\n${text}`;
}
