import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');
/** Parts of Node that open nothing: they compute. */
const PURE = new Set(
  ['path', 'util', 'crypto', 'async_hooks', 'module', 'url', 'string_decoder', 'buffer'].map(
    (name) => `node:${name}`,
  ),
);
const FORBIDDEN_FOLDERS = new Set(['utils', 'helpers', 'common', 'shared', 'core']);

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly text: string;
  readonly isTest: boolean;
  readonly imports: readonly { readonly to: string; readonly typeOnly: boolean }[];
}

function walk(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    return statSync(path).isDirectory() ? walk(path) : [path];
  });
}

function importsOf(path: string, text: string): Source['imports'] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  // Other files have imports only at the top.
  const isDeep = /\b(?:import|require|lazyRequire)\s*\(/.test(text);
  const found: { to: string; typeOnly: boolean }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const typeOnly = node.importClause?.isTypeOnly === true || allNamesAreTypes(node.importClause);
      found.push({ to: node.moduleSpecifier.text, typeOnly });
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      found.push({ to: node.moduleSpecifier.text, typeOnly: node.isTypeOnly });
    } else if (ts.isCallExpression(node) && isDynamicImport(node) && node.arguments[0] !== undefined) {
      const [target] = node.arguments;
      if (ts.isStringLiteral(target)) found.push({ to: target.text, typeOnly: false });
    }
    if (isDeep) ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return found;
}

function allNamesAreTypes(clause: ts.ImportClause | undefined): boolean {
  const names = clause?.namedBindings;
  if (clause?.name !== undefined || names === undefined || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every((name) => name.isTypeOnly);
}

function isDynamicImport(node: ts.CallExpression): boolean {
  const callee = node.expression;
  return (
    callee.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(callee) && ['require', 'lazyRequire'].includes(callee.text))
  );
}

const sources: readonly Source[] = walk(SRC)
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(path, 'utf8');
    const inside = relative(SRC, path);
    const folder = inside.includes('/') ? (inside.split('/')[0] as string) : '*.ts';
    const isTest = /\.test\.tsx?$/.test(path) || inside.split('/').includes('fixtures');
    return { path, folder, text, isTest, imports: importsOf(path, text) };
  });

/** The table of ARCHITECTURE.md: folder → folders it may import. */
function readTable(): Map<string, readonly string[]> {
  const rows = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| [^|]*\| `[^`|]+` \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(
    rows.map((cells) => [
      (cells[2] as string).replaceAll('`', ''),
      (cells[4] as string)
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ]),
  );
}

/** The second table: folder → its sub-folders, one entry per floor, from the top down. */
function readInnerTable(): Map<string, readonly (readonly string[])[]> {
  const rows = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| `[^`|]+` \|.*▸/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
  return new Map(
    rows.map((cells) => [
      cells[1] as string,
      (cells[2] as string).split('▸').map((floor) => floor.split(',').map((name) => name.trim())),
    ]),
  );
}

const table = readTable();
const innerTable = readInnerTable();

function innerOrder(folder: string): {
  readonly floorOf: ReadonlyMap<string, number>;
  readonly climbing: (from: string, to: string) => boolean;
} {
  const floors = innerTable.get(folder) ?? [];
  const floorOf = new Map(floors.flatMap((names, floor) => names.map((name) => [name, floor] as const)));
  const at = (name: string): number => floorOf.get(name) ?? Number.NaN;
  return { floorOf, climbing: (from, to) => !(at(to) > at(from)) };
}

const show = ({ path }: Source): string => relative(ROOT, path);
const targetOf = (source: Source, to: string): string =>
  resolve(dirname(source.path), to).replace(/\.js$/, '.ts');
const folderOf = (path: string): string => {
  const inside = relative(SRC, path);
  return inside.includes('/') ? (inside.split('/')[0] as string) : '*.ts';
};

describe('the house', () => {
  it('is seen: there are files, and every folder has its row', () => {
    expect(sources.length).toBeGreaterThan(50);
    expect(table.size).toBeGreaterThan(10);
    const folders = [...new Set(sources.map(({ folder }) => folder))].sort();
    expect(folders.filter((folder) => !table.has(folder))).toEqual([]);
    expect([...table.keys()].filter((folder) => !folders.includes(folder))).toEqual([]);
  });

  it('has rows that only point down', () => {
    const order = [...table.keys()];
    const climbing = order.flatMap((folder, floor) =>
      (table.get(folder) ?? [])
        .filter((target) => order.indexOf(target) <= floor)
        .map((target) => `${folder} -> ${target}`),
    );
    expect(climbing).toEqual([]);
  });

  it('has no import that climbs or visits a sibling', () => {
    const wrong = sources.flatMap((source) => {
      const allowed = [source.folder, ...(table.get(source.folder) ?? [])];
      if (source.isTest) allowed.push('testing', 'platform', 'executor');
      return source.imports
        .filter(({ to }) => to.startsWith('.') && !to.endsWith('/package.json'))
        .filter(({ to }) => !allowed.includes(folderOf(targetOf(source, to))))
        .map(({ to }) => `${show(source)} imports ${to}`);
    });
    expect(wrong).toEqual([]);
  });

  it.each([...innerTable.keys()])('has sub-folders that point down: %s', (folder) => {
    const { floorOf, climbing } = innerOrder(folder);
    const own = relative(SRC, join(SRC, folder));
    const inside = sources.filter(({ path, isTest }) => !isTest && relative(SRC, path).startsWith(`${own}/`));
    const placeOf = (path: string): string => {
      const parts = relative(join(SRC, folder), path).split('/');
      return parts.length > 1 ? (parts[0] as string) : '.';
    };
    const places = [...new Set(inside.map(({ path }) => placeOf(path)))].sort();
    expect(places.length).toBeGreaterThan(1);
    expect([...floorOf.keys()].sort()).toEqual(places);
    const edges = inside.flatMap((source) =>
      source.imports
        .filter(({ to }) => to.startsWith('.'))
        .map(({ to }) => targetOf(source, to))
        .filter((target) => relative(SRC, target).startsWith(`${own}/`))
        .filter((target) => placeOf(target) !== placeOf(source.path))
        .map((target) => ({ source, target })),
    );
    expect(edges.length).toBeGreaterThan(0);
    const wrong = edges
      .filter(({ source, target }) => climbing(placeOf(source.path), placeOf(target)))
      .map(({ source, target }) => `${show(source)} imports ${relative(SRC, target)}`);
    expect(wrong).toEqual([]);
  });

  it('says the order inside the folders whose sub-folders have one', () => {
    const folders = ['commands', 'executor', 'journal', 'platform', 'policy', 'policy/shell'];
    expect([...innerTable.keys()].sort()).toEqual(folders);
  });

  it('opens the operating system in platform/ alone', () => {
    const wrong = sources
      .filter(({ folder, isTest }) => folder !== 'platform' && !isTest)
      .flatMap((source) => [
        ...source.imports
          .filter(({ to, typeOnly }) => !typeOnly && to.startsWith('node:') && !PURE.has(to))
          .map(({ to }) => `${show(source)} imports ${to}`),
        ...systemGlobals(source).map((what) => `${show(source)} uses ${what}`),
      ]);
    expect(wrong).toEqual([]);
  });

  it('has no runtime import cycle', () => {
    const graph = new Map(
      sources.map((source) => [
        source.path,
        source.imports
          .filter(({ to, typeOnly }) => to.startsWith('.') && !typeOnly)
          .map(({ to }) => targetOf(source, to)),
      ]),
    );
    expect(findCycle(graph)?.map((path) => relative(SRC, path))).toBeUndefined();
  });

  it('has no cycle of types either, but between a file and a part of it in the same folder', () => {
    const edges = new Map(
      sources
        .filter(({ isTest }) => !isTest)
        .map((source) => [
          source.path,
          source.imports.filter(({ to }) => to.startsWith('.')).map(({ to }) => targetOf(source, to)),
        ]),
    );
    const arePair = (one: string, other: string): boolean =>
      dirname(one) === dirname(other) && (edges.get(other) ?? []).includes(one);
    const graph = new Map(
      [...edges].map(([path, targets]) => [path, targets.filter((target) => !arePair(path, target))]),
    );
    expect([...graph.values()].flat().length).toBeGreaterThan(500);
    expect(findCycle(graph)?.map((path) => relative(SRC, path))).toBeUndefined();
  });

  it('runs a tool in the executor alone', () => {
    const callers = sources
      .filter(({ isTest, text }) => !isTest && /\b(tool|spec)\.execute\(/.test(text))
      .map(show);
    expect(callers).toEqual(['src/executor/execute/run-tool.ts']);
  });

  it('ends the process in the command alone', () => {
    const wrong = sources
      .filter(({ isTest, folder, text }) => !isTest && folder !== 'cli' && /process\.exit\b/.test(text))
      .map(show);
    expect(wrong).toEqual([]);
  });

  it('makes directories by its own means alone: the recursive way of Node never comes back below /proc', () => {
    const recursive = /mkdir(?:Sync)?\([^;]*\brecursive\b/;
    const wrong = sources.filter(({ isTest, text }) => !isTest && recursive.test(text));
    expect(wrong.map(show)).toEqual([]);
  });

  it('has no drawer for odds and ends', () => {
    const drawers = sources.filter(({ path }) =>
      relative(SRC, path)
        .split('/')
        .some((part) => FORBIDDEN_FOLDERS.has(part.replace(/\.tsx?$/, ''))),
    );
    expect(drawers.map(show)).toEqual([]);
  });

  it('has doors without logic', () => {
    const wrong = sources
      .filter(({ folder, isTest }) => folder === '*.ts' && !isTest)
      .filter(({ path, text }) =>
        ts
          .createSourceFile(path, text, ts.ScriptTarget.Latest)
          .statements.some(
            (statement) => !ts.isExportDeclaration(statement) || statement.exportClause === undefined,
          ),
      );
    expect(wrong.map(show)).toEqual([]);
  });

  it('keeps its files small: the median near 80 lines, nine in ten under 250, none over 400', () => {
    const lines = sources
      .filter(({ isTest }) => !isTest)
      .map((source) => ({ path: show(source), lines: source.text.split('\n').length }))
      .sort((a, b) => a.lines - b.lines);
    const at = (share: number): number => lines[Math.floor((lines.length - 1) * share)]?.lines ?? 0;
    expect(at(0.5)).toBeLessThanOrEqual(110);
    expect(at(0.9)).toBeLessThanOrEqual(250);
    expect(lines.filter((file) => file.lines > 400)).toEqual([]);
  });
});

// Timers and the clock make a program's behaviour depend on when it runs: they come in as a value.
function systemGlobals({ path, text }: Source): string[] {
  if (!/\b(?:Date|performance|process|setTimeout|setInterval|fetch)\b/.test(text)) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const use = `${node.expression.text}.${node.name.text}`;
      if (path.includes('/cli/') && use.startsWith('process.exit')) return;
      if (use === 'Date.now' || use === 'performance.now' || use.startsWith('process.')) found.push(use);
    }
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression)) {
      if (['setTimeout', 'setInterval', 'fetch'].includes(node.expression.text))
        found.push(node.expression.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | undefined => {
    if (done.has(node)) return undefined;
    const start = path.indexOf(node);
    if (start !== -1) return [...path.slice(start), node];
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle !== undefined) return cycle;
    }
    path.pop();
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
