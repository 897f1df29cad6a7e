import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const REQUIREMENTS = 'docs/requirements.md';
/** The ids of docs/requirements.md (A001 to F029), and the ids of the documents that they come from. */
const ID = /\b(?:[A-G]\d{3}|(?:FR|NFR|CFG)-[A-Z]+(?:-[A-Z]+)*-\d+[a-z]?(?:-\d)?)\b/g;

const FOLDERS = ['src', 'test', 'docs', 'bench', 'scripts', 'examples'];

const paths = [
  ...readdirSync(ROOT),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
];
const documents = paths
  .filter((path) => /\.(?:ts|mjs|md)$/.test(path) && !/node_modules|references\.test/.test(path))
  .map((path) => ({ path, lines: readFileSync(join(ROOT, path), 'utf8').split('\n') }));

describe('every reference resolves', () => {
  it('is tried on what there is', () => {
    expect(documents.length).toBeGreaterThan(300);
    expect(definedIds().size).toBeGreaterThan(300);
  });

  it('to a requirement: docs/requirements.md has its id', () => {
    const defined = definedIds();
    expect(find(ID, ([id]) => !defined.has(id))).toEqual([]);
  });

  it('to a decision: by a link, or by a path, to a page of that number', () => {
    const links = /\[decision (\d+)\]\((?:\.\.\/)*(?:docs\/)?decisions\/(\d{4})-[^)]+\)/gi;
    expect(find(links, ([, said, page]) => Number(said) !== Number(page))).toEqual([]);
    expect(find(/\bdecisions? \d+\b(?!\]\()/gi, () => true)).toEqual([]);
  });

  it('to a page of the decisions: the page is there', () => {
    const missing = ([, name]: RegExpExecArray, path: string): boolean =>
      !existsSync(join(ROOT, 'docs/decisions', name ?? '')) &&
      !existsSync(resolve(ROOT, dirname(path), name ?? ''));
    expect(find(/decisions\/(\d{4}[\w-]*(?:\.md)?)/g, missing)).toEqual([]);
  });
});

function find(pattern: RegExp, isWrong: (match: RegExpExecArray, path: string) => boolean): string[] {
  return documents.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) =>
      [...line.matchAll(pattern)]
        .filter((match) => isWrong(match, path))
        .map(([text]) => `${path}:${index + 1}: ${text}`),
    ),
  );
}

/** Ids with a row, and ids that the last section postpones. */
function definedIds(): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, REQUIREMENTS), 'utf8');
  const rows = [...text.matchAll(/^\| ([A-G]\d{3}) \|/gm)].map(([, id = '']) => id);
  const [, later = ''] = text.split('\n## Not built yet\n');
  const ranges = [...later.matchAll(/\b([A-G])(\d{3})(?:–[A-G](\d{3}))?/g)].flatMap(
    ([, letter, from, to = from]) =>
      Array.from(
        { length: Number(to) - Number(from) + 1 },
        (_, index) => `${letter}${String(Number(from) + index).padStart(3, '0')}`,
      ),
  );
  return new Set([...rows, ...ranges]);
}
