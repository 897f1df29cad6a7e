import { basename, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

/** What a bundler made of the sources in one pass: files that import each other, as many as there are ways to need them. */
export interface Parts {
  /** By the name of the file. */
  readonly texts: ReadonlyMap<string, string>;
  readonly metafile: Metafile;
  /** Where the files will lie: a source map names the sources from there. */
  readonly directory: string;
}

/** A file to be: it takes the parts that are always loaded with one of some sources, and are in no file before it. */
export interface JoinedFile {
  readonly name: string;
  readonly sources: readonly string[];
  /** Takes only parts that are always loaded with this source too. */
  readonly neededBy?: string;
}

interface Place {
  readonly file: string;
  /** What the part exports has another name in a file of many parts. */
  readonly isJoined: boolean;
}

type Places = ReadonlyMap<string, Place>;

/**
 * Joins parts that are loaded together in one file, where they name each other directly: to find, open and link a file
 * takes as long as to read 5 KB of code. A file imports only files before it, so that none waits for itself.
 * @returns all files, by name.
 */
export async function joinParts(
  parts: Parts,
  files: readonly JoinedFile[],
  options: BuildOptions & { readonly format: 'cjs' | 'esm' },
): Promise<ReadonlyMap<string, string>> {
  const outputs = outputsOf(parts);
  const places = placesOf(outputs, files);
  const joined = new Map<string, string[]>();
  for (const [part, { file }] of places) joined.set(file, [...(joined.get(file) ?? []), part]);
  const built = [...joined].map(async ([file, names]) => {
    const { outputFiles } = await build({
      ...options,
      stdin: {
        contents: names.map((name) => exportsIn(name, { outputs, places })).join('\n'),
        resolveDir: parts.directory,
        sourcefile: file,
      },
      outfile: join(parts.directory, file),
      bundle: true,
      write: false,
      logLevel: 'error',
      plugins: [linked(file, { parts, outputs, places })],
    });
    return (outputFiles ?? []).map(({ path, text }) => [basename(path), text] as const);
  });
  return new Map((await Promise.all(built)).flat());
}

type Outputs = ReadonlyMap<string, Metafile['outputs'][string]>;

function outputsOf({ metafile }: Parts): Outputs {
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output] as const);
  return new Map(outputs);
}

function placesOf(outputs: Outputs, files: readonly JoinedFile[]): Places {
  const importsOf = (name: string): readonly string[] =>
    (outputs.get(name)?.imports ?? [])
      .filter(({ kind, external }) => kind === 'import-statement' && external !== true)
      .map(({ path }) => basename(path));
  const loadedWith = (source: string): ReadonlySet<string> => {
    const start = [...outputs].find(([, { entryPoint }]) => entryPoint === source);
    if (start === undefined)
      throw new Error(`Cannot join the parts of ${source}: nothing loads it as a part.`);
    return reachedFrom(importsOf(start[0]), importsOf);
  };
  const places = new Map<string, Place>();
  for (const { name: file, sources, neededBy } of files) {
    const needed = neededBy === undefined ? undefined : loadedWith(neededBy);
    for (const part of sources.flatMap((source) => [...loadedWith(source)])) {
      if (!places.has(part) && needed?.has(part) !== false) places.set(part, { file, isJoined: true });
    }
  }
  for (const name of outputs.keys()) if (!places.has(name)) places.set(name, { file: name, isJoined: false });
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

interface Joining {
  readonly outputs: Outputs;
  readonly places: Places;
}

function exportsIn(part: string, { outputs, places }: Joining): string {
  if (places.get(part)?.isJoined !== true) return `export * from './${part}';`;
  const names = outputs.get(part)?.exports ?? [];
  return `export { ${names.map((name) => `${name} as ${nameIn(part, name, outputs)}`).join(', ')} } from './${part}';`;
}

/** Under which a file of many parts exports what is `name` in one of them. */
const nameIn = (part: string, name: string, outputs: Outputs): string =>
  `${name}$${[...outputs.keys()].indexOf(part).toString(36)}`;

/** What a part imports of its own file is put before it; the rest comes from the file where it is. */
function linked(file: string, { parts, outputs, places }: Joining & { readonly parts: Parts }): Plugin {
  return {
    name: 'linked',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^/ }, ({ path, kind, namespace }) => {
        const name = basename(path);
        const place = places.get(name);
        if (place === undefined || namespace === 'elsewhere' || kind !== 'import-statement')
          return { path, external: true, sideEffects: false };
        // A path, for the source map; as what it is, whatever it will be called.
        if (place.file === file) return { path: join(parts.directory, `${name}.js`), sideEffects: true };
        return place.isJoined
          ? { path: name, namespace: 'elsewhere', sideEffects: false }
          : { path, external: true, sideEffects: false };
      });
      onLoad({ filter: /^/, namespace: 'file' }, ({ path }) => ({
        contents: parts.texts.get(basename(path, '.js')) ?? '',
      }));
      onLoad({ filter: /^/, namespace: 'elsewhere' }, ({ path }) => {
        const names = (outputs.get(path)?.exports ?? []).map(
          (name) => `${nameIn(path, name, outputs)} as ${name}`,
        );
        return { contents: `export { ${names.join(', ')} } from './${places.get(path)?.file}';` };
      });
    },
  };
}
