import { basename } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/** What a bundler made of the sources in one pass: files that import each other, as many as there are ways to need them. */
export interface Parts {
  /** By the name of the file. */
  readonly texts: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
}

/** A file to be, and the source whose parts it takes: those that are always loaded with it, and in no file before it. */
export type JoinedFile = readonly [name: string, source: string];

interface Place {
  readonly file: string;
  /** Under which the file exports the part; all of the file if it is that one part. */
  readonly member?: string;
}

/**
 * Joins parts that are loaded together in one CommonJS file, where they name each other directly: to find, open and link a
 * file takes as long as to read 5 KB of code. A file imports only files before it, so that none waits for itself.
 */
export function joinParts(
  parts: Parts,
  files: readonly JoinedFile[],
  options: BuildOptions,
): Promise<ReadonlyMap<string, string>> {
  const places = placesOf(parts, files);
  const joined = new Map<string, string[]>();
  for (const [part, { file }] of places) joined.set(file, [...(joined.get(file) ?? []), part]);
  const built = [...joined].map(async ([file, names]) => {
    const { outputFiles } = await build({
      ...options,
      stdin: { contents: contentsOf(names, places), resolveDir: '/' },
      bundle: true,
      format: 'cjs',
      write: false,
      logLevel: 'error',
      plugins: [linked(parts.texts, file, places)],
    });
    const [hashbang = ''] = /^#!.*\n/.exec(parts.texts.get(file) ?? '') ?? [];
    return [file, hashbang + withRequires(outputFiles?.[0]?.text ?? '', places)] as const;
  });
  return Promise.all(built).then((texts) => new Map(texts));
}

function placesOf({ texts, metafile }: Parts, files: readonly JoinedFile[]): ReadonlyMap<string, Place> {
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({
    ...output,
    name: basename(path),
  }));
  const importsOf = (name: string): readonly string[] =>
    (outputs.find((output) => output.name === name)?.imports ?? [])
      .filter(({ kind, external }) => kind === 'import-statement' && external !== true)
      .map(({ path }) => basename(path));
  const places = new Map<string, Place>();
  for (const [file, source] of files) {
    const start = outputs.find(({ entryPoint }) => entryPoint === source);
    if (start === undefined)
      throw new Error(`Cannot join the parts of ${source}: nothing loads it as a part.`);
    for (const name of reachedFrom(importsOf(start.name), importsOf)) {
      if (!places.has(name)) places.set(name, { file, member: memberOf(name) });
    }
  }
  for (const name of texts.keys()) if (!places.has(name)) places.set(name, { file: name });
  return places;
}

/** Each after what it imports. */
function reachedFrom(
  names: readonly string[],
  importsOf: (name: string) => readonly string[],
): ReadonlySet<string> {
  const reached = new Set<string>();
  const add = (name: string): void => {
    if (reached.has(name)) return;
    for (const inner of importsOf(name)) add(inner);
    reached.add(name);
  };
  for (const name of names) add(name);
  return reached;
}

const memberOf = (part: string): string => part.replace(/\.cjs$/, '').replace(/[^A-Za-z0-9]/g, '_');

function contentsOf(names: readonly string[], places: ReadonlyMap<string, Place>): string {
  return names
    .map((name) => {
      const member = places.get(name)?.member;
      return `export *${member === undefined ? '' : ` as ${member}`} from './${name}';\n`;
    })
    .join('');
}

/** What a part imports of its own file is put before it; the rest is required from where it is. */
function linked(
  texts: ReadonlyMap<string, string>,
  file: string,
  places: ReadonlyMap<string, Place>,
): Plugin {
  return {
    name: 'linked',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^/ }, ({ path, kind }) => {
        const name = basename(path);
        const isHere = kind === 'import-statement' && places.get(name)?.file === file;
        return isHere ? { path: name, namespace: 'here' } : { path, external: true, sideEffects: false };
      });
      onLoad({ filter: /^/, namespace: 'here' }, ({ path }) => ({ contents: texts.get(path) ?? '' }));
    },
  };
}

/** A part that is imported dynamically is loaded when it is needed. What is no part, a file that a person names, stays. */
function withRequires(text: string, places: ReadonlyMap<string, Place>): string {
  return text.replaceAll(/(require|import)\("\.\/([^"]+)"\)/g, (whole, how: string, name: string) => {
    const place = places.get(name);
    if (place === undefined) return whole;
    return how === 'require' ? requireOf(place) : `Promise.resolve().then(()=>${requireOf(place)})`;
  });
}

function requireOf({ file, member }: Place): string {
  return `require("./${file}")${member === undefined ? '' : `.${member}`}`;
}
