import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PolicyQuestion } from '../contract/policy.js';
import { matchesWildcard, type Piece, RUN } from '../patterns/wildcard.js';
import { eachOf } from '../testing/fixtures/each-of.js';
import { createPolicy } from './create-policy.js';
import { entriesOf, RuleIndex } from './evaluation/rule-index.js';
import { mismatch } from './evaluation/rule-match.js';
import { bash, inShort, question } from './fixtures/ask.js';
import { simpleAnalysis } from './fixtures/simple-analysis.js';
import { partsOf } from './rules/call-part.js';
import { compileRule } from './rules/compile-rule.js';
import type { PolicyRule } from './rules/policy-rule.js';

/** Far more than any of these needs, and far less than a runaway would take. */
const BOUND_MS = 1500;

/** Milliseconds of work, even on a busy machine. */
function timed(action: () => unknown): number {
  const before = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const writes = (path: string): PolicyQuestion => question('edit', [{ kind: 'write', path }]);

describe('hostile patterns', () => {
  it.each([
    ['*a*a*a*a*a*a*a*a*a*a*a*a*b', 'a'.repeat(4000)],
    [`${'**/'.repeat(60)}b`, 'a/'.repeat(2000)],
    [`${'**/*a*/'.repeat(40)}b`, 'aaa/'.repeat(1000)],
    [`${'*?'.repeat(200)}b`, 'a'.repeat(4000)],
    [`${'[a-z]*'.repeat(50)}!`, 'a'.repeat(4000)],
  ])('of paths take bounded time: %j', (path, asked) => {
    const policy = createPolicy({ rules: [{ decision: 'deny', path }] });
    expect(timed(() => policy.decide(writes(asked)))).toBeLessThan(BOUND_MS);
  });

  it('of paths take bounded time where groups repeat, and braces stay bounded', { tags: ['soak'] }, () => {
    for (const path of ['(*)*', '(a|b)*']) {
      expect(inShort(createPolicy({ rules: [{ decision: 'deny', path }] }).decide(writes('ab')))).toBe('ask');
    }
    const repeating = [
      '*(a|aa)b',
      '+(*(a)*(a))b',
      '*(*(*(*(a|b))))c',
      '!(*a*)*a*b',
      `${'*(a)'.repeat(400)}b`,
    ];
    const policy = createPolicy({ rules: repeating.map((path) => ({ decision: 'deny', path })) });
    expect(timed(() => expect(inShort(policy.decide(writes('a'.repeat(250))))).toBe('ask'))).toBeLessThan(
      BOUND_MS,
    );
    for (const path of ['{a,b}'.repeat(40), '{1..1000000000}', '{{{{a,b},c},d},e}'.repeat(20)]) {
      const create = (): unknown => createPolicy({ rules: [{ decision: 'deny', path }] });
      expect(timed(() => expect(create).toThrow('cannot use'))).toBeLessThan(BOUND_MS);
    }
  });

  it('of commands, tools and agents take bounded time', () => {
    const command = `${'** *a* '.repeat(100)}x`;
    const policy = createPolicy({
      rules: [
        { decision: 'deny', command },
        { decision: 'deny', tool: '*a'.repeat(60), agent: '*a*'.repeat(200) },
      ],
    });
    expect(timed(() => policy.decide(bash('aaa '.repeat(4000))))).toBeLessThan(BOUND_MS);
    const named = { ...bash('x'), name: 'a'.repeat(5000), agent: 'a'.repeat(50_000) };
    expect(timed(() => policy.decide(named))).toBeLessThan(BOUND_MS);
  });
});

describe('hostile calls', () => {
  const rules: readonly PolicyRule[] = [
    { decision: 'allow', command: ['git *', 'ls'] },
    { decision: 'allow', path: ['src/**'] },
    { decision: 'allow', url: 'example.com' },
    { decision: 'deny', contains: 'forbidden' },
  ];
  const policies = [createPolicy({ rules }), createPolicy({ rules }, { analyzeCommand: simpleAnalysis })];

  eachOf<[string, PolicyQuestion]>(
    [
      ['empty command', bash('')],
      ['spaces', bash('  \t ')],
      ['line ends', bash('git log\nrm x')],
      ['no-break space', bash('git\u00a0log; rm x')],
      ['a lone surrogate', bash('git \ud800; rm x')],
      ['a path with NUL', writes('src/a\0')],
      ['a path that steps out', writes('src/../../x')],
      ['a path that hides a step', writes('src/\uff0e\uff0e/\u2025/x/../..')],
      ['an empty path', writes('')],
      ['no URL', question('f', [{ kind: 'fetch', url: 'javascript:alert(1)' }])],
      ['an empty URL', question('f', [{ kind: 'fetch', url: '' }])],
      [
        'ten thousand effects',
        question(
          'f',
          Array.from({ length: 1000 }, () => ({ kind: 'write', path: 'x' }) as const),
        ),
      ],
      ['a very long path', writes(`../${'src/'.repeat(100_000)}`)],
      ['a megabyte', bash(`git ${'a '.repeat(100_000)}; rm x`)],
      ['a long URL', question('f', [{ kind: 'fetch', url: `https://${'a.'.repeat(50_000)}com` }])],
    ],
    -3,
  )('are never allowed, and take bounded time: %s', (_what, asked) => {
    for (const policy of policies) {
      expect(timed(() => expect(inShort(policy.decide(asked))).toBe('ask'))).toBeLessThan(BOUND_MS);
    }
  });

  it.each(['git log\rrm x', 'git log\0rm x', 'git log\u2028rm x', 'git \u202elog'])(
    'without analysis are no plain commands: %j',
    (command) => {
      expect(inShort(createPolicy({ rules }).decide(bash(command)))).toBe('ask');
    },
  );

  it('with arguments that only look like their own take nothing from a prototype', () => {
    const args = Object.create({ command: 'ls' }) as Record<string, never>;
    const { effects: _effects, ...bare } = bash('');
    expect(inShort(createPolicy({ rules }).decide({ ...bare, args }))).toBe('ask');
  });

  it('get an answer, whatever they are', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('git log', 'src/a', 'https://example.com'),
    );
    fc.assert(
      fc.property(text, text, text, text, (name, command, path, url) => {
        const effects = [
          { kind: 'run', command, shell: 'sh' },
          { kind: 'read', path },
          { kind: 'fetch', url },
        ] as const;
        for (const policy of policies) {
          expect(policy.decide(question(name, effects)).reason).toMatch(/\S/);
          expect(policy.explain(question(name, effects)).candidates).toHaveLength(rules.length);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('ten thousand rules', () => {
  const rules = Array.from({ length: 10_000 }, (_, index): PolicyRule => {
    const decision = index % 3 === 0 ? 'deny' : 'allow';
    const kinds = [
      { command: `program${index} run *` },
      { path: `src/part${index}/**` },
      { url: `*.host${index}.example` },
      { tool: `tool_${index}`, effect: 'write' as const },
    ];
    return { decision, ...kinds[index % kinds.length] };
  });

  it('are made, asked and checked in bounded time', { tags: ['soak'], timeout: 180_000 }, () => {
    let policy = createPolicy();
    expect(timed(() => (policy = createPolicy({ rules })))).toBeLessThan(10 * BOUND_MS);
    const each = timed(() => {
      for (let asked = 0; asked < 1000; asked++) policy.decide(writes(`src/part${asked}/x`));
    });
    expect(each / 1000).toBeLessThan(2);
    expect(inShort(policy.decide(writes('src/part9/x')))).toBe('policy_denied');
    expect(inShort(policy.decide(writes('src/part1/x')))).toBe('run');
    expect(timed(() => policy.problems())).toBeLessThan(20 * BOUND_MS);
  });
});

describe('the index', () => {
  const words = fc.constantFrom('a', 'A', 'b', '*', '**', '*.x', 'f.x', '{a,b}', '[ab]', '\u00e9', '\u212a');
  const pattern = fc.array(words, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const host = fc.constantFrom('a.b', '*.a.b', '*', 'b', 'https://a.b', 'a.b:80', '*.b');
  const command = fc.array(fc.constantFrom('a', '/bin/a', 'b*', '*', '**'), { minLength: 1, maxLength: 3 });
  const rule: fc.Arbitrary<PolicyRule> = fc
    .record({
      decision: fc.constantFrom('allow', 'ask', 'deny'),
      conditions: fc.oneof(
        fc.record({
          path: fc.oneof(
            pattern,
            pattern.map((text) => `/${text}`),
          ),
        }),
        fc.record({ url: host }),
        fc.record({ command: command.map((parts) => parts.join(' ')) }),
        fc.record({ tool: fc.constantFrom('t', 'T', 't*', 'u') }),
      ),
    })
    .map(({ decision, conditions }) => ({ decision, ...conditions }) as PolicyRule);
  const path = fc
    .array(fc.constantFrom('a', 'A', 'b', 'f.x', 'e\u0301', 'k', '.'), { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'));
  const effect = fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      path: fc.oneof(
        path,
        path.map((text) => `/root/${text}`),
      ),
    }),
    fc.record({
      kind: fc.constant('fetch' as const),
      url: fc.constantFrom('https://a.b', 'http://x.a.b./', 'x:'),
    }),
    fc.record({
      kind: fc.constant('run' as const),
      shell: fc.constant('bash' as const),
      command: fc.constantFrom('a', '/bin/a b', 'b', ''),
    }),
  );

  it('leaves out no rule that matches', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 10 }), effect, (given, touched) => {
        const compiled = given.map((one, order) => compileRule(one, `rules[${order}]`, order));
        const asked = question('t', [touched], { aliases: ['T'], roots: ['/root'] });
        const at = {
          question: asked,
          mode: 'auto',
          projectMayAllow: true,
          argumentAnswers: new Map(),
        } as const;
        const index = new RuleIndex(compiled);
        for (const part of partsOf(asked, simpleAnalysis)) {
          const found = new Set<number>();
          index.find(asked, part, ({ rule: { order } }) => found.add(order));
          const matching = compiled
            .flatMap((one) => entriesOf(one))
            .filter((entry) => mismatch(entry, part, at) === undefined)
            .map(({ rule: { order } }) => order);
          expect(matching.filter((order) => !found.has(order))).toEqual([]);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('matchesWildcard()', () => {
  it('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}'), maxLength: 12 });
    const pieces = fc.array(fc.constantFrom<Piece>('a', 'b', '\u{1f600}', RUN), { maxLength: 8 });
    fc.assert(
      fc.property(pieces, text, (pattern, subject) => {
        const source = pattern.map((piece) => (piece === RUN ? '.*' : String(piece))).join('');
        expect(matchesWildcard(pattern, subject)).toBe(new RegExp(`^${source}$`, 'su').test(subject));
      }),
      { numRuns: 2000 },
    );
  });
});
