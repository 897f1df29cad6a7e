import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandOutcome } from '../../src/contract/processes.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { type KeptApart, makeKeptApart, useKeptApart, whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();

interface Steps {
  readonly before?: string;
  readonly after?: string;
}

/** Runs a command that prints `ready` in the middle, and acts outside at that moment, the first time or always. */
async function meanwhile(
  place: Pick<KeptApart, 'run' | 'outside'>,
  { before = 'true', after = 'true' }: Steps,
  outside: string,
  { always = false, more = {} }: { readonly always?: boolean; readonly more?: object } = {},
): Promise<CommandOutcome> {
  let times = 0;
  return place.run(`${before}; echo ready; sleep 0.4; ${after}`, {
    onOutput: () => {
      if (times++ === 0 || always) place.outside(outside);
    },
    ...more,
  });
}

describe.skipIf(WHY_NOT !== '')(`a command whose files others change meanwhile${WHY_NOT}`, () => {
  it('is run again on the current files, and says so', async () => {
    here.outside('echo 1 >a');
    const outcome = await meanwhile(
      here,
      { before: 'x=$(cat a)', after: 'echo $x >>a; echo new >b' },
      'echo 2 >a',
    );
    expect(outcome).toMatchObject({ exitCode: 0, reruns: 1, changes: { modified: ['a'], created: ['b'] } });
    expect(outcome.stdout.head).toBe('ready\n');
    expect(here.outside('cat a b')).toBe('2\n2\nnew\n');
  });

  it('keeps nothing if they keep changing them, and its versions can be read', async () => {
    here.outside('echo old >a; echo old >b; mkdir d; echo d >d/d');
    const versions: string[] = [];
    const outcome = await meanwhile(
      here,
      { before: 'echo mine >a; rm b; echo mine >c; rm -rf d; echo mine >same' },
      'date +%N >>a; date +%N >>b; date +%N >>c; date +%N >>d/new',
      {
        always: true,
        more: { keepVersion: (bytes: Uint8Array) => `kept:${versions.push(String(bytes.length))}` },
      },
    );
    expect(outcome).toMatchObject({ exitCode: 0, reruns: 2, discardedBy: 'conflict' });
    expect(outcome.changes).toMatchObject({ created: [], modified: [], deleted: [], refused: [] });
    const told = outcome.changes?.conflicts ?? [];
    expect(told.map(({ path }) => path).sort()).toEqual(['a', 'b', 'c', 'd/new']);
    for (const { reason } of told) expect(reason).toMatch(/another program/);
    expect(told.find(({ path }) => path === 'a')?.ref).toMatch(/^kept:/);
    expect(here.outside('ls; ls d')).toBe('a\nb\nc\nd\nd\nnew\n');
  });

  it('is not run again with the network on, after a cancellation, or if the options forbid it', async () => {
    const stop = new AbortController();
    const cases: readonly (readonly [Partial<KeptApart>, object])[] = [
      [makeKeptApart({ rules: { onConflict: 'fail' } }), {}],
      [makeKeptApart({ network: true }), {}],
    ];
    for (const [place] of cases) {
      const there = place as KeptApart;
      there.outside('echo 1 >a');
      const outcome = await meanwhile(there, { after: 'echo 3 >a' }, 'echo 2 >a');
      expect(outcome.discardedBy).toBe('conflict');
      expect(outcome.reruns).toBeUndefined();
      expect(there.outside('cat a')).toBe('2\n');
      there.remove();
    }
    here.outside('echo 1 >a');
    const cancelled = await here.run('echo ready; sleep 5; echo 3 >a', {
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(cancelled).toMatchObject({ aborted: true });
    expect(cancelled.reruns).toBeUndefined();
  });

  it('says if another command changed them', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'fail' } });
    there.outside('echo 1 >a');
    const slow = there.run('echo slow >>a; sleep 0.6');
    await there.run('sleep 0.1; echo quick >>a');
    const outcome = await slow;
    expect(outcome.changes?.conflicts).toMatchObject([
      { path: 'a', reason: expect.stringMatching(/another command/) },
    ]);
    expect(there.outside('cat a')).toBe('1\nquick\n');
    there.remove();
  });

  it('is not run again if only the times of its declared files have changed', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'fail' } });
    there.outside('echo 1 >a');
    const more = { targets: [join(there.root, 'a')] };
    const outcome = await meanwhile(there, { after: 'echo 3 >>a' }, 'touch a; cp a t; mv t a', { more });
    expect(outcome.discarded, JSON.stringify(outcome.changes)).toBeUndefined();
    expect(there.outside('cat a')).toBe('1\n3\n');
    there.remove();
  });

  it('keeps the other changes if the caller has requested that, and does not report success', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'keep_rest' } });
    there.outside('echo 1 >a');
    const outcome = await meanwhile(there, { after: 'echo 3 >a; echo b >b' }, 'echo 2 >a');
    expect(outcome.discarded).toBeUndefined();
    expect(outcome.changes).toMatchObject({ created: ['b'], conflicts: [{ path: 'a' }] });
    expect(there.outside('cat a b')).toBe('2\nb\n');
    there.remove();
  });
});

describe.skipIf(WHY_NOT !== '')(`what is a conflict${WHY_NOT}`, () => {
  const failing = () => makeKeptApart({ rules: { onConflict: 'fail' } });

  eachOf<[title: string, setUp: string, steps: Steps, outside: string]>(
    [
      ['a file that was saved by a rename', 'echo 1 >a', { after: 'echo 3 >a' }, 'echo 2 >t; mv t a'],
      ['a mode', 'echo 1 >a', { after: 'echo 3 >a' }, 'chmod 600 a'],
      ['a file that was made', 'true', { after: 'echo 3 >a' }, 'echo 2 >a'],
      ['a file that was removed', 'echo 1 >a; echo 1 >z', { before: 'sed -i s/1/3/ a z' }, 'rm a'],
      ['a directory that was moved away', 'mkdir d; echo 1 >d/a', { before: 'echo 3 >d/b' }, 'mv d e'],
      [
        'a directory that both moved: two copies remained',
        'mkdir d; echo 1 >d/a; sleep 0.02',
        { before: 'mv d e' },
        'mkdir b; mv d b/f',
      ],
      [
        'what was moved into a directory that goes',
        'mkdir build thesis; echo 1 >thesis/t; echo o >build/o',
        { before: 'rm -rf build' },
        'mv thesis build/thesis',
      ],
      [
        'a package that was removed while a file of it was changed',
        'mkdir -p node_modules/p; echo 1 >node_modules/p/a; echo 1 >node_modules/p/b',
        { before: 'sleep 0.35; echo 3 >node_modules/p/a' },
        'rm -rf node_modules/p',
      ],
      [
        'a directory that became a link',
        'mkdir d ../outside; echo 1 >d/a',
        { before: 'echo 3 >d/a' },
        'mv d e; ln -s ../outside d',
      ],
      ['the mode of a directory that both set', 'mkdir d', { after: 'chmod 700 d' }, 'chmod 711 d'],
      ['a link that leads elsewhere', 'ln -s x l', { after: 'ln -sfn y l' }, 'ln -sfn z l'],
      [
        'a file that both moved: two copies remained',
        'echo 1 >a; sleep 0.02',
        { before: 'mv a b' },
        'mv a c',
      ],
      [
        'a directory that was swapped',
        'mkdir cur; echo 1 >cur/a; mkdir next; echo 2 >next/a',
        { after: 'echo 3 >cur/a' },
        'mv cur old; mv next cur',
      ],
      [
        'what was moved into a directory that goes, and changed there',
        'mkdir build thesis; echo 1 >thesis/t; echo 1 >thesis/draft; echo o >build/o',
        { before: 'rm -rf build' },
        'mv thesis build/thesis; rm build/thesis/draft',
      ],
      [
        'a directory in place of a file that goes',
        'echo 1 >f; mkdir old; echo 1 >old/a; echo 1 >old/b',
        { before: 'rm f' },
        'rm f; mkdir f; mv old f/old; rm f/old/b',
      ],
      [
        'what was saved in a directory that goes',
        'mkdir build; echo o >build/o',
        { before: 'rm -rf build' },
        'echo p >build/p',
      ],
    ],
    -5,
  )('%s', async (_title, setUp, steps, outside) => {
    const there = failing();
    there.outside(setUp);
    const outcome = await meanwhile(there, steps, outside);
    const left = there.outside('find . -printf "%p %m %l\\n" | sort; cat ../outside/* 2>/dev/null || true');
    expect(outcome.discardedBy, JSON.stringify(outcome.changes)).toBe('conflict');
    // Only the changes of the other programs exist.
    const only = failing();
    only.outside(setUp);
    only.outside(outside);
    expect(left.replaceAll(there.around, '')).toBe(
      only
        .outside('find . -printf "%p %m %l\\n" | sort; cat ../outside/* 2>/dev/null || true')
        .replaceAll(only.around, ''),
    );
    there.remove();
    only.remove();
  });
});

type NoConflict = [title: string, setUp: string, steps: Steps, outside: string, left: string];

describe.skipIf(WHY_NOT !== '')(`what is no conflict${WHY_NOT}`, () => {
  const CASES: readonly NoConflict[] = [
    ['a new time', 'echo 1 >a', { before: 'echo 3 >a; sleep 0.3' }, 'touch a', '3\n'],
    [
      'the same bytes, saved again',
      'echo 1 >a',
      { before: 'echo 3 >>a; sleep 0.3' },
      'echo 1 >t; mv t a',
      '1\n3\n',
    ],
    ['the bytes that the command wrote', 'echo 1 >a', { after: 'echo 3 >a' }, 'echo 3 >a', '3\n'],
    ['another file in the same directory', 'echo 1 >a', { after: 'echo 3 >a' }, 'echo 2 >b', '3\n'],
    [
      'a mode that only others set',
      'mkdir d; echo 1 >a',
      { after: 'echo 3 >d/x; cp d/x a' },
      'chmod 711 d',
      '3\n',
    ],
    [
      'a directory that both made',
      'echo 1 >a',
      { after: 'mkdir -p d/e; echo 3 >d/e/x; cp d/e/x a' },
      'mkdir -p d/e; echo 2 >d/e/y',
      '3\n',
    ],
    [
      'a file that the command moved and others removed, beside one that they renamed before',
      'echo 3 >b; echo 1 >c; mv c d; sleep 0.02',
      { before: 'mv b a' },
      'rm b; echo 4 >e',
      '3\n',
    ],
    ['a file that both removed', 'echo 1 >a; echo 1 >b', { after: 'rm -f b; echo 3 >a' }, 'rm b', '3\n'],
  ];

  it.each(CASES)('%s', { tags: ['soak'] }, async (_title, setUp, steps, outside, left) => {
    const there = makeKeptApart({ rules: { onConflict: 'fail' } });
    there.outside(setUp);
    const outcome = await meanwhile(there, steps, outside);
    expect(outcome.discarded, JSON.stringify(outcome.changes)).toBeUndefined();
    expect(there.outside('cat a')).toBe(left);
    there.remove();
  });

  it('all of that, each in its own directory', async () => {
    const there = makeKeptApart({ rules: { onConflict: 'fail' } });
    const inEach = (part: (one: NoConflict) => string): string =>
      CASES.map((one, index) => `(cd ${index}; ${part(one)})`).join('; ');
    there.outside(`mkdir ${CASES.map((_, index) => index).join(' ')}; ${inEach(([, setUp]) => setUp)}`);
    const steps = {
      before: inEach(([, , { before = 'true' }]) => before),
      after: inEach(([, , { after = 'true' }]) => after),
    };
    const outcome = await meanwhile(
      there,
      steps,
      inEach(([, , , outside]) => outside),
    );
    expect(outcome.discarded, JSON.stringify(outcome.changes)).toBeUndefined();
    expect(there.outside(inEach(() => 'cat a'))).toBe(CASES.map(([, , , , left]) => left).join(''));
    there.remove();
  });
});
