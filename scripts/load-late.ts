import { basename, dirname, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Modules that most runs of the command never call, each with all that only it needs. Reading them takes longer than
 * everything that such a run does. What a failure is told with is not among them: it must not need a file to be opened.
 */
const LATE: readonly string[] = [
  'executor/answer/adopt-result.ts',
  'executor/approve/ask-approval.ts',
  'executor/approve/find-deferred.ts',
  'executor/approve/picture-parts.ts',
  'executor/execute/grant-agents.ts',
  'executor/execute/grant-processes.ts',
  'executor/receive/incoming-calls.ts',
  'executor/record/noted-change.ts',
  'executor/recover/decide-batch.ts',
  'executor/recover/recover-call.ts',
  'executor/undo/undo-call.ts',
  'files/move-contained.ts',
  'files/walk.ts',
  'files/write-all-contained.ts',
  'journal/memory/memory-journal.ts',
  'journal/redaction/redaction.ts',
  'policy/evaluation/check-examples.ts',
  'policy/explain/find-problems.ts',
  'policy/matching/argument-pattern.ts',
  'policy/rules/compile-rule.ts',
  'protocols/describe/schema-merger.ts',
  'tools/apply-patch/patch-files.ts',
  'tools/apply-patch/read-patch.ts',
  'tools/list-directory/walk-directory.ts',
  'tools/suggestions/explain-missing.ts',
];

/** By the name of the file that each becomes, beside the others of the command. */
export const LATE_MODULES: Readonly<Record<string, string>> = Object.fromEntries(
  LATE.map((name) => [`late-${basename(name, '.ts')}`, resolve(ROOT, 'src', name)]),
);

/**
 * Where our sources import such a module, a property that loads its file when it is first read. The sources themselves
 * import it as any other.
 */
export const loadLate: Plugin = {
  name: 'load-late',
  setup({ onResolve, onLoad }) {
    const names = new Map(Object.entries(LATE_MODULES).map(([name, file]) => [file, name]));
    onResolve({ filter: /^\..*\.js$/ }, ({ path, importer, kind }) => {
      const file = resolve(dirname(importer), path.replace(/\.js$/, '.ts'));
      return kind === 'import-statement' && names.has(file) ? { path: file, namespace: 'late' } : undefined;
    });
    onResolve({ filter: /^\.\/late-/, namespace: 'late' }, ({ path }) => ({ path, external: true }));
    onLoad({ filter: /^/, namespace: 'late' }, async ({ path }) => {
      const loaded = `require('./${names.get(path)}.cjs')`;
      const properties = (await exportsOf(path)).map((name) => `get ${name}() { return ${loaded}.${name}; }`);
      return { contents: `module.exports = { ${properties.join(', ')} };`, resolveDir: ROOT };
    });
  },
};

async function exportsOf(file: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [file],
    bundle: false,
    write: false,
    outdir: ROOT,
    format: 'esm',
    metafile: true,
    logLevel: 'error',
  });
  return Object.values(metafile.outputs).flatMap(({ exports }) => exports);
}
