import { isDeepStrictEqual } from 'node:util';

/**
 * Rewrites a JSON text so that it contains another value. Everything that stays equal keeps its bytes: layout, comments,
 * line ends.
 * @param text correct JSON, except for comments
 */
export function editJson(text: string, value: unknown): string {
  const plain = blankComments(text);
  const [, end = '\n', unit = '  '] = /[{[](\r?\n)([ \t]+)/.exec(plain) ?? [];
  const tree = readTree(plain);
  return text.slice(0, tree.start) + render(tree, value, { text, plain, end, unit }) + text.slice(tree.stop);
}

/** Replaces comments by blanks, so that every other character keeps its place. */
export function blankComments(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' '),
  );
}

/** A value and its place in the text. */
interface Tree {
  readonly start: number;
  readonly stop: number;
  readonly value: unknown;
  readonly parts: readonly Part[];
}

/** A member of an object, or an element of an array. */
interface Part {
  /** Of the name, if it has one. */
  readonly start: number;
  readonly name?: string;
  readonly tree: Tree;
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)/y;

function readTree(text: string): Tree {
  TOKEN.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  const next = (): string => TOKEN.exec(text)?.[1] ?? '';
  const read = (opening: string): Tree => {
    const start = TOKEN.lastIndex - opening.length;
    const parts: Part[] = [];
    for (let token = opening; token === opening || token === ','; ) {
      if (opening !== '{' && opening !== '[') break;
      token = next();
      if (token === '}' || token === ']') break;
      const from = TOKEN.lastIndex - token.length;
      if (opening === '[') parts.push({ start: from, tree: read(token) });
      else {
        next();
        parts.push({ start: from, name: JSON.parse(token), tree: read(next()) });
      }
      token = next();
    }
    const stop = TOKEN.lastIndex;
    return { start, stop, value: JSON.parse(text.slice(start, stop)), parts };
  };
  return read(next());
}

interface Edited {
  readonly text: string;
  /** Without comments. */
  readonly plain: string;
  /** The end of a line. */
  readonly end: string;
  /** The indentation of one level. */
  readonly unit: string;
}

interface Added {
  readonly name?: string;
  readonly value: unknown;
}

interface Change {
  /** The new values of the parts that stay. */
  readonly kept: ReadonlyMap<Part, unknown>;
  readonly added: readonly Added[];
}

function render(tree: Tree, value: unknown, edited: Edited): string {
  const { text, plain, end, unit } = edited;
  if (isDeepStrictEqual(tree.value, value)) return text.slice(tree.start, tree.stop);
  const outer = indentAt(tree.start, plain);
  const change = changeOf(tree, value);
  if (change === undefined) return print(value, outer, edited);
  let out = '';
  let carried = '';
  let indent = outer + unit;
  let from = tree.start + 1;
  for (const part of tree.parts) {
    const lead = text.slice(from, part.start);
    const comma = plain.slice(from, part.start).indexOf(',');
    const space = comma < 0 ? lead : lead.slice(0, comma) + lead.slice(comma + 1);
    from = part.tree.stop;
    if (!change.kept.has(part)) {
      // The comments before a part that goes stay.
      if (space.trim() !== '') carried += space.trimEnd();
      continue;
    }
    const isFirst = out === '';
    const isUntouched = carried === '' && isFirst === comma < 0;
    const before = isUntouched ? lead : `${isFirst ? '' : ','}${carried}${space}`;
    const label = text.slice(part.start, part.tree.start);
    out += `${before}${label}${render(part.tree, change.kept.get(part), edited)}`;
    indent = /[\r\n]/.test(lead) ? indentAt(part.start, plain) : indent;
    carried = '';
  }
  const tail = carried + text.slice(from, tree.stop - 1);
  const close = text[tree.stop - 1] ?? '';
  const open = text[tree.start] ?? '';
  if (change.added.length === 0)
    return `${open}${out}${out === '' && tail.trim() === '' ? '' : tail}${close}`;
  const more = change.added.map(({ name, value: one }) => {
    const label = name === undefined ? '' : `${JSON.stringify(name)}: `;
    return `${end}${indent}${label}${print(one, indent, edited)}`;
  });
  const comments = tail.trimEnd();
  const space = tail.slice(comments.length);
  const rest = out === '' && !space.includes('\n') ? `${end}${outer}` : space;
  return `${open}${out}${out === '' ? '' : ','}${comments}${more.join(',')}${rest}${close}`;
}

/** Undefined: the value is of another kind. */
function changeOf(tree: Tree, value: unknown): Change | undefined {
  if (Array.isArray(tree.value)) return Array.isArray(value) ? changeOfElements(tree, value) : undefined;
  if (!isRecord(tree.value) || !isRecord(value)) return undefined;
  const names = new Set(tree.parts.map(({ name }) => name));
  return {
    kept: new Map(
      tree.parts.flatMap((part) =>
        Object.hasOwn(value, part.name ?? '') ? [[part, value[part.name ?? '']]] : [],
      ),
    ),
    added: Object.entries(value).flatMap(([name, one]) => (names.has(name) ? [] : [{ name, value: one }])),
  };
}

/** An element stays if it is equal to the next wanted one, and is rewritten if no later element is. */
function changeOfElements({ parts }: Tree, wanted: readonly unknown[]): Change {
  const kept = new Map<Part, unknown>();
  let at = 0;
  parts.forEach((part, place) => {
    if (at === wanted.length) return;
    const equal = parts.slice(place).find(({ tree }) => isDeepStrictEqual(tree.value, wanted[at]));
    if (equal === undefined || equal === part) kept.set(part, wanted[at++]);
  });
  return { kept, added: wanted.slice(at).map((value) => ({ value })) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The blanks at the start of the line. */
function indentAt(place: number, plain: string): string {
  const line = plain.slice(plain.lastIndexOf('\n', place - 1) + 1, place);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function print(value: unknown, indent: string, { end, unit }: Edited): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `${end}${indent}`);
}
