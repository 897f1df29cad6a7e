import type { ChangedEntry } from '../contract/changes.js';
import type { ChangesPart } from '../contract/picture.js';
import { countChanges, describeChange } from './describe-changes.js';
import type { Palette } from './draw-picture.js';
import { LEAST_COLUMNS } from './own-words.js';
import { inOneLine, toPieces, toVisible } from './visible-text.js';

export interface TreeOptions {
  readonly columns: number;
  readonly palette: Palette;
  /** Only these paths are kept; the others are shown as left out. If this is undefined, all are kept. */
  readonly chosen?: ReadonlySet<string>;
}

/** The number of entries of a new or removed directory above which they become one line. */
const FOLDED_ENTRIES = 20;

/** The changes of a command as lines: the counts by kind, then the removed paths, then the rest as a tree. */
export function drawChangeTree(part: ChangesPart, options: TreeOptions): readonly string[] {
  const { palette } = options;
  const isDeleted = ({ change }: ChangedEntry): boolean => change === 'delete';
  const deleted = part.entries.filter(isDeleted);
  const others = part.entries.filter((entry) => !isDeleted(entry));
  return [
    palette.bold(countChanges(part)),
    ...drawTree(deleted, options),
    ...drawTree(others, options),
    ...(part.notKept.length === 0 ? [] : [palette.bold(`cannot be kept (${part.notKept.length}):`)]),
    ...part.notKept.flatMap(({ path, reason }) =>
      line(`${path}: ${reason}`, '✗ ', 0, options, palette.yellow),
    ),
  ];
}

interface Branch {
  readonly name: string;
  readonly inner: Map<string, Branch>;
  entry?: ChangedEntry;
}

function drawTree(entries: readonly ChangedEntry[], options: TreeOptions): readonly string[] {
  const top: Branch = { name: '', inner: new Map() };
  for (const entry of entries) {
    let at = top;
    for (const name of namesIn(entry.path)) {
      const next: Branch = at.inner.get(name) ?? { name, inner: new Map() };
      at.inner.set(name, next);
      at = next;
    }
    at.entry = entry;
  }
  return [...top.inner.values()].flatMap((branch) => drawBranch(branch, 0, options));
}

/** `a/b/` is shown as `a/` with `b/` in it; an absolute path begins with `/`. */
function namesIn(path: string): readonly string[] {
  return path.match(/^\/|[^/]+\/?/g) ?? [path];
}

function drawBranch(branch: Branch, depth: number, options: TreeOptions): readonly string[] {
  const { palette, chosen } = options;
  const { entry, inner } = branch;
  const below = inner.size === 0 ? [] : entriesBelow(branch);
  if (entry === undefined) {
    const only = [...inner.values()];
    // One line for a chain of directories that contain only each other.
    if (only.length === 1 && only[0] !== undefined && only[0].inner.size > 0)
      return drawBranch({ ...only[0], name: `${branch.name}${only[0].name}` }, depth, options);
    return [
      ...line(branch.name, '  ', depth, options, palette.dim),
      ...only.flatMap((one) => drawBranch(one, depth + 1, options)),
    ];
  }
  const sign = SIGNS[entry.change];
  const paint = { '+': palette.green, '~': palette.yellow, '-': palette.red }[sign];
  const isLeftOut = chosen !== undefined && !chosen.has(entry.path);
  const facts = describeChange({ ...entry, path: branch.name });
  const isFolded = below.length > FOLDED_ENTRIES && below.every(({ change }) => change === entry.change);
  const size = below.reduce((sum, one) => sum + ((one.after ?? one.before)?.size ?? 0), 0);
  const more = isFolded ? `  ${below.length} entries, ${bytes(size)}` : '';
  const note = isLeftOut ? '  (left out)' : '';
  return [
    ...line(`${facts}${more}${note}`, `${sign} `, depth, options, isLeftOut ? palette.dim : paint),
    ...(isFolded ? [] : [...inner.values()].flatMap((one) => drawBranch(one, depth + 1, options))),
  ];
}

const SIGNS = { create: '+', modify: '~', delete: '-' } as const;

function entriesBelow({ inner }: Branch): readonly ChangedEntry[] {
  return [...inner.values()].flatMap((branch) => [
    ...(branch.entry === undefined ? [] : [branch.entry]),
    ...entriesBelow(branch),
  ]);
}

function bytes(size: number): string {
  if (size < 10_000) return `${size} bytes`;
  return size < 10_000_000 ? `${Math.round(size / 1000)} kB` : `${Math.round(size / 1_000_000)} MB`;
}

/** Untrusted text, in lines that no terminal has to wrap and that all have the same indent. */
function line(
  text: string,
  sign: string,
  depth: number,
  { columns }: TreeOptions,
  paint: (text: string) => string,
): readonly string[] {
  const width = Math.max(columns, LEAST_COLUMNS);
  const indent = '  '.repeat(Math.min(depth, 12, Math.floor((width - 16) / 2)) + 1);
  const shown = toVisible(inOneLine(text), { lookalikes: true });
  const pieces = toPieces(shown, width - indent.length - sign.length - 3);
  return pieces.map((piece, at) => `${indent}${paint(`${at === 0 ? sign : '┆ '}${piece}`)}`);
}
