import { watch } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

/** The events of a file itself, as `tsc --watch` asks for them: it watches a file anew after a `rename`. */
function watchFile(name: string) {
  const events: string[] = [];
  const heard = new Set<() => void>();
  const watcher = watch(`${here.root}/${name}`, (event) => {
    events.push(event);
    for (const wake of heard) wake();
  });
  onTestFinished(() => watcher.close());
  return {
    async until(event: string): Promise<readonly string[]> {
      while (!events.includes(event)) await new Promise<void>((resolve) => heard.add(resolve));
      return events;
    },
  };
}

describe.skipIf(WHY_NOT !== '')(`a program that watches a file which commands change${WHY_NOT}`, () => {
  it('bug: was not told that the file was replaced, and missed each later change', async () => {
    here.outside('echo 1 >a');
    for (const text of ['2', '3']) {
      const watched = watchFile('a');
      const outcome = await here.run(`echo ${text} >a`);
      expect(outcome).toMatchObject({ exitCode: 0, changes: { modified: ['a'] } });
      expect(await watched.until('rename')).toContain('rename');
      expect(here.outside('cat a')).toBe(`${text}\n`);
    }
  });

  it('is told too if the command removes it and creates another one', async () => {
    here.outside('echo 1 >a');
    const watched = watchFile('a');
    expect(await here.run('rm a; mkdir a; echo 2 >a/b')).toMatchObject({ exitCode: 0 });
    expect(await watched.until('rename')).toContain('rename');
  });
});
