import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = resolve(fileURLToPath(new URL('..', import.meta.url)));
const STATIC = /^(?:import|export)\s+(?!type\b)[^'"]*?from\s+'(\.[^']+)'/gm;

/** The sources loaded with a file, without later dynamic imports. */
function loadedWith(file: string, seen = new Set<string>()): ReadonlySet<string> {
  const name = relative(SRC, file);
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(STATIC))
    if (path.endsWith('.js')) loadedWith(join(dirname(file), path.replace(/\.js$/, '.ts')), seen);
  return seen;
}

describe('toolexec hook', () => {
  it.each(['cli/commands/hook.ts', 'guard/evaluate-call.ts'])(
    '%s loads neither the executor nor all tools',
    (file) => {
      const loaded = loadedWith(join(SRC, file));
      expect(loaded).toContain(
        file === 'guard/evaluate-call.ts' ? 'executor/create-planner.ts' : 'guard/run-hook.ts',
      );
      for (const heavy of [
        'executor/create-executor.ts',
        'executor/open-executor.ts',
        'executor/executor.ts',
        'executor/builtin-tools.ts',
        'journal/open-journal.ts',
        'journal/memory/memory-journal.ts',
      ])
        expect(loaded).not.toContain(heavy);
    },
  );

  it('loads what evaluates a call only with a call to evaluate, and the configuration only when it is read', () => {
    const loaded = loadedWith(join(SRC, 'cli/commands/hook.ts'));
    expect(loaded).not.toContain('guard/evaluate-call.ts');
    expect(loaded).not.toContain('cli/resolve-settings.ts');
  });

  it('records a change of a file without the executor and the tools that it does not need', () => {
    const loaded = loadedWith(join(SRC, 'guard/open-records.ts'));
    expect(loaded).toContain('executor/journal-for.ts');
    for (const heavy of ['executor/open-executor.ts', 'executor/builtin-tools.ts'])
      expect(loaded).not.toContain(heavy);
  });

  it('reads the configuration without the journal and the display', () => {
    const loaded = loadedWith(join(SRC, 'cli/resolve-settings.ts'));
    expect(loaded).toContain('config/resolve-config.ts');
    for (const heavy of ['journal/open-journal.ts', 'cli/display/display.ts'])
      expect(loaded).not.toContain(heavy);
  });
});
