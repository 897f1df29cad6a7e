import type { Page, PageNode } from './visible-page.js';

/**
 * Gives blocks whose meaning depends on their layout a form that every later step keeps:
 *
 * 1. Each block of code is `<pre><code>text</code></pre>`. Its line breaks are characters, whatever elements make them
 *    on the page, and a column of line numbers is left out.
 * 2. A cell that covers several rows appears in each of them.
 * 3. A caption stands before its table, where the header row remains the first row.
 * 4. A raised number keeps its meaning: `10<sup>6</sup>` is `10^6`.
 */
export function shapeBlocks(document: Page): void {
  for (const table of [...document.querySelectorAll('table')]) {
    const rows = [...table.querySelectorAll('tr')];
    if (rows.length === 1) giveWayToCode(table);
    moveCaption(table, document);
  }
  repeatLongCells(document);
  for (const block of [...document.querySelectorAll('pre')]) if (isCode(block)) toCode(block, document);
  for (const raised of document.querySelectorAll('sup')) {
    const text = (raised.textContent ?? '').trim();
    if (/^[+−–-]?(?:\d{1,4}|[a-z])$/.test(text) && first(raised, 'a') === undefined)
      raised.textContent = `^${text}`;
  }
}

function first(node: PageNode, name: string): PageNode | undefined {
  for (const found of node.querySelectorAll(name)) return found;
  return undefined;
}

/** A table of one row that shows code, beside its line numbers. */
function giveWayToCode(table: PageNode): void {
  const blocks = [...table.querySelectorAll('pre')];
  if (blocks.length === 0 || first(table, 'table') !== undefined) return;
  const code = blocks.filter(({ textContent }) => !/^[\d\s]*$/.test(textContent ?? ''));
  for (const block of code) table.parentNode?.insertBefore(block, table);
  table.parentNode?.removeChild(table);
}

function moveCaption(table: PageNode, document: Page): void {
  const caption = first(table, 'caption');
  if (caption === undefined || caption.parentNode !== table) return;
  const text = document.createElement('p');
  for (const child of [...caption.childNodes]) text.appendChild(child);
  table.removeChild(caption);
  table.parentNode?.insertBefore(text, table);
}

/** For one page. A page could ask for billions. */
const MOST_REPEATED = 2_000;
/** Longer texts are read where they begin, and not in every row. */
const LONGEST_REPEATED = 200;

interface LongCell {
  readonly cell: PageNode;
  /** Rows that it still covers. */
  rows: number;
}

function repeatLongCells(document: Page): void {
  let repeated = 0;
  let section: PageNode | null = null;
  let open = new Map<number, LongCell>();
  for (const row of document.querySelectorAll('tr')) {
    if (row.parentNode !== section) open = new Map();
    section = row.parentNode;
    let column = 0;
    const fill = (before: PageNode | null): void => {
      for (let above = open.get(column); above !== undefined; above = open.get(column)) {
        if (--above.rows === 0) open.delete(column);
        if (repeated++ >= MOST_REPEATED) return;
        row.insertBefore(copyOf(above.cell, document), before);
        column += spanOf(above.cell, 'colspan');
      }
    };
    for (const cell of [...row.childNodes]) {
      if (cell.nodeType !== 1) continue;
      fill(cell);
      const rows = spanOf(cell, 'rowspan') - 1;
      if (rows > 0) open.set(column, { cell, rows });
      column += spanOf(cell, 'colspan');
    }
    fill(null);
  }
}

function copyOf(cell: PageNode, document: Page): PageNode {
  const copy = document.createElement(cell.nodeName.toLowerCase());
  const text = (cell.textContent ?? '').trim();
  copy.textContent = text.length > LONGEST_REPEATED ? '' : text;
  const columns = cell.getAttribute('colspan');
  if (columns !== null) copy.setAttribute('colspan', columns);
  return copy;
}

function spanOf(cell: PageNode, name: 'rowspan' | 'colspan'): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? '1', 10);
  return span >= 1 && span <= 1_000 ? span : 1;
}

/** A block with links, such as the index of a directory, is text. Cells of a table have one line each in Markdown. */
function isCode(block: PageNode): boolean {
  for (let at = block.parentNode; at !== null; at = at.parentNode) if (CELLS.has(at.nodeName)) return false;
  return first(block, 'code') !== undefined || first(block, 'a') === undefined;
}

const CELLS: ReadonlySet<string> = new Set(['TD', 'TH']);

function toCode(block: PageNode, document: Page): void {
  const code = document.createElement('code');
  const language = languageOf(block);
  if (language !== undefined) code.setAttribute('class', `language-${language}`);
  code.textContent = linesOf(block).replace(/\n+$/, '\n');
  for (const child of [...block.childNodes]) block.removeChild(child);
  block.appendChild(code);
  // A class of the surrounding element would name the language too, for a rule that does not know longer fences.
  if (block.parentNode?.nodeName === 'DIV') block.parentNode.removeAttribute('class');
}

function languageOf(block: PageNode): string | undefined {
  const around = block.parentNode;
  for (const node of [first(block, 'code'), block, around, around?.parentNode]) {
    const [, name] = LANGUAGE.exec(node?.getAttribute?.('class') ?? '') ?? [];
    if (name !== undefined) return NO_LANGUAGE.has(name) ? undefined : name;
  }
  return undefined;
}

const LANGUAGE =
  /(?:^|\s)(?:language|lang|highlight-source|highlight-text|highlight)-([\w+#.-]{1,30})(?:\s|$)/;
const NO_LANGUAGE: ReadonlySet<string> = new Set([
  'default',
  'none',
  'notranslate',
  'plaintext',
  'text',
  'txt',
]);

/** The text as its lines are shown: `<br>` and elements in lines of their own break it too. */
function linesOf(block: PageNode): string {
  let text = '';
  const breakLine = (): void => {
    if (text !== '' && !text.endsWith('\n')) text += '\n';
  };
  const walk = (node: PageNode): void => {
    if (node.nodeType === 3) text += node.textContent ?? '';
    if (node.nodeName === 'BR') text += '\n';
    const isLine = LINES.has(node.nodeName);
    if (isLine) breakLine();
    for (const child of node.childNodes) walk(child);
    if (isLine) breakLine();
  };
  for (const child of block.childNodes) walk(child);
  return text;
}

const LINES: ReadonlySet<string> = new Set(['DIV', 'P', 'LI', 'TR', 'OL', 'UL', 'TABLE']);
