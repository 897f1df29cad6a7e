import { describe, expect, it } from 'vitest';
import type { Effect } from '../contract/effect.js';
import type { JsonObject } from '../contract/json.js';
import { createPolicy } from './create-policy.js';
import { bash, inShort, outcome, question } from './fixtures/ask.js';
import { simpleAnalysis } from './fixtures/simple-analysis.js';
import type { PolicyRule } from './rules/policy-rule.js';

const allow = (rule: Omit<PolicyRule, 'decision'>): PolicyRule => ({ decision: 'allow', ...rule });
const ask = (rule: Omit<PolicyRule, 'decision'>): PolicyRule => ({ decision: 'ask', ...rule });
const deny = (rule: Omit<PolicyRule, 'decision'>): PolicyRule => ({ decision: 'deny', ...rule });
const write = (path: string): readonly Effect[] => [{ kind: 'write', path }];
const fetch = (url: string): readonly Effect[] => [{ kind: 'fetch', url }];

describe('a rule about commands', () => {
  const rules = [allow({ command: ['git status *', 'npm run test:*', 'git log'] })];

  it.each([
    ['git status', 'run'],
    ['git status -s --branch', 'run'],
    ['git log', 'run'],
    ['git log -p', 'ask'],
    ['git', 'ask'],
    ['npm run test:unit', 'run'],
    ['npm run test:unit -- --watch', 'ask'],
    ['npm run test', 'ask'],
    ['git statusx', 'ask'],
    ['GIT status', 'ask'],
    ['/tmp/evil/git status', 'ask'],
    ['git status; git log', 'run'],
    ['git status | sh', 'ask'],
    ['git status && rm x', 'ask'],
    ['git status > out.txt', 'ask'],
    ['git status\nrm x', 'ask'],
    ['$CMD status', 'ask'],
    ['', 'ask'],
    ['git status DESTROY', 'security_violation'],
  ])('%j: %s', (command, expected) => {
    expect(outcome(rules, bash(command))).toBe(expected);
  });

  it('allows what a command touches with the command, and nothing that its line does besides', () => {
    const touching = [allow({ command: ['touch *', 'echo *', 'cat *'] })];
    expect(outcome(touching, bash('touch a b'))).toBe('run');
    expect(outcome(touching, bash('echo a > a'))).toBe('ask');
    expect(outcome(touching, bash('touch a > a'))).toBe('run');
    expect(outcome(touching, bash('cat a | cat < b'))).toBe('run');
    expect(outcome([...touching, allow({ path: 'out/**' })], bash('echo a > out/a'))).toBe('run');
    expect(outcome([...touching, deny({ path: 'secret/**' })], bash('cat secret/key'))).toBe('policy_denied');
    expect(outcome([...touching, ask({ effect: 'read', path: '**/*.pem' })], bash('cat < a.pem'))).toBe(
      'ask',
    );
  });

  it('denies a program wherever it lies, and any one of several commands', () => {
    const rule = [deny({ command: 'rm *' })];
    for (const command of ['rm x', '/bin/rm x', 'ls; rm x', 'ls | ../rm']) {
      expect([command, outcome(rule, bash(command), { mode: 'auto' })]).toEqual([command, 'policy_denied']);
    }
    expect(outcome(rule, bash('rmdir x'), { mode: 'auto', allowlist: ['bash'] })).toBe('ask');
    expect(outcome(rule, { ...bash('rmdir x'), requiresApproval: false }, { mode: 'auto' })).toBe('run');
  });

  it('lets ** match any words, quotes their content, and no wildcard of an allowing rule a ".."', () => {
    expect(outcome([deny({ command: 'git push ** --force **' })], bash('git push origin x --force'))).toBe(
      'policy_denied',
    );
    expect(outcome([deny({ command: 'git push ** --force **' })], bash('git push origin x'))).toBe('ask');
    expect(outcome([allow({ command: 'rm build/*' })], bash('rm build/x'))).toBe('run');
    expect(outcome([allow({ command: 'rm build/*' })], bash('rm build/../x'))).toBe('ask');
    expect(outcome([allow({ command: "echo '*'" })], bash('echo *'))).toBe('run');
    expect(outcome([allow({ command: "echo '*'" })], bash('echo a'))).toBe('ask');
    expect(outcome([allow({ command: 'git * x' })], bash('git a x'))).toBe('run');
    expect(outcome([allow({ command: 'git * x' })], bash('git a b x'))).toBe('ask');
  });

  describe('without command analysis', () => {
    it.each([
      ['git status -s', 'run'],
      ['git status; git log', 'ask'],
      ['git status $(x)', 'ask'],
      ['git status "a"', 'ask'],
      ['X=1 git status', 'ask'],
      ['sudo git status', 'ask'],
      ['git status\n', 'ask'],
      ['git status *', 'ask'],
    ])('matches a single command of plain words only: %j', (command, expected) => {
      expect(outcome(rules, bash(command), { analyzed: false })).toBe(expected);
    });

    it('asks if it is not certain whether a rule matches, whatever mode and list say', () => {
      const options = { analyzed: false, mode: 'auto', allowlist: ['bash'] } as const;
      const plain = { ...bash('true; rm x'), requiresApproval: false };
      expect(outcome([deny({ command: 'rm *' })], plain, options)).toBe('ask');
      expect(outcome([deny({ tool: 'other', command: 'rm *' })], plain, options)).toBe('run');
      expect(outcome([], plain, options)).toBe('run');
    });
  });
});

describe('a command', () => {
  it('that is blocked is a security_violation that says so, whatever allows it (B012–B015)', () => {
    const policy = createPolicy(
      { mode: 'auto', denylist: [], allowlist: ['bash'], rules: [allow({ command: '*' })] },
      { analyzeCommand: simpleAnalysis },
    );
    const answer = policy.decide(bash('DESTROY'));
    expect(answer).toMatchObject({ disposition: 'pre_resolved', code: 'security_violation' });
    expect(answer.reason).toMatch(/blocked.*dangerous/);
    const silent = createPolicy(
      {},
      { analyzeCommand: () => ({ verdict: 'block', reasons: [], commands: [], effects: [] }) },
    );
    expect(silent.decide(bash('x')).reason).toMatch(/blocked as dangerous/);
  });

  it('that is not understood is asked about, whatever allows it, and no review may lift that', () => {
    const policy = createPolicy(
      { mode: 'auto', allowlist: ['bash'], rules: [allow({ command: '*' }), allow({ tool: 'bash' })] },
      { analyzeCommand: simpleAnalysis },
    );
    expect(policy.decide({ ...bash('$X a'), requiresApproval: false })).toMatchObject({
      disposition: 'requires_confirmation',
      insists: true,
    });
  });

  it('is denied by a literal text anywhere in it, and the denial says which (A007, A009, A010, F010)', () => {
    const rules = [
      deny({ contains: ['rm -rf /', 'mkfs'] }),
      allow({ command: 'mkfs.ext4 /dev/very-long-name' }),
    ];
    const policy = createPolicy({ rules }, { analyzeCommand: simpleAnalysis });
    expect(policy.decide(bash('mkfs.ext4 /dev/very-long-name'))).toMatchObject({ code: 'policy_denied' });
    expect(policy.decide(bash('echo $(mkfs x)')).reason).toContain('it matches "mkfs"');
    expect(createPolicy({ rules }).decide(bash('a; rm -rf /x')).reason).toContain('it matches "rm -rf /"');
  });
});

describe('a rule about paths', () => {
  const at = (path: string, roots = ['/work']) => question('write_file', write(path), { roots });

  it.each([
    ['src/**', 'src/a.ts', 'run'],
    ['src/**', 'src', 'ask'],
    ['src/**', 'SRC/a.ts', 'ask'],
    ['src/**', 'lib/src/a.ts', 'ask'],
    ['src/**', 'src/../x', 'ask'],
    ['src/**', './src//a', 'run'],
    ['src/**', '/work/src/a', 'run'],
    ['src/**', '/elsewhere/src/a', 'ask'],
    ['*.md', 'deep/er/README.md', 'run'],
    ['/work/src/*', '/work/src/a', 'run'],
    ['/work/src/*', '/work/src/a/b', 'ask'],
    ['**/src/*', '/work/x/src/a', 'run'],
    ['{src,lib}/*.ts', 'lib/a.ts', 'run'],
    ['[a-c]/?', 'b/x', 'run'],
    ['[!a-c]/?', 'b/x', 'ask'],
    ['a\\*b', 'a*b', 'ask'],
    ['caf\u00e9', 'cafe\u0301', 'run'],
    ['**', 'any/where', 'run'],
  ])('allows by %j: %j: %s', (path, asked, expected) => {
    expect(outcome([allow({ path })], at(asked))).toBe(expected);
  });

  it.each([
    ['secrets', 'secrets/deep/key'],
    ['secrets/**', 'secrets'],
    ['secrets/**', 'SECRETS/key'],
    ['secrets/**', 'a/../secrets/key'],
    ['*.pem', 'a.PEM'],
    ['**/.ssh/**', '~/.ssh/id'],
    ['**/.ssh/**', '/root/.ssh/id'],
    ['/etc', '/etc/passwd'],
    ['keys', '\uff4beys/x'],
    ['keys', 'k\u200deys/x'],
    ['[\uff41-\uff43]1', '\uff421'],
    ['[\uff41-\uff43]1', 'b1'],
    ['[\uff21-\uff23]1', 'b1'],
  ])('denies by %j what goes by another spelling or lies below: %j', (path, asked) => {
    expect(outcome([deny({ path })], at(asked), { mode: 'auto' })).toBe('policy_denied');
  });

  it('keeps absolute patterns from paths below a root', () => {
    expect(outcome([deny({ path: '/etc/**' })], at('etc/x'), { mode: 'auto' })).toBe('run');
  });

  it('allows by the canonical path alone, and denies by every name', () => {
    const linked = { ...at('src/link'), places: [{ at: '/work/secrets/key' }] };
    expect(outcome([allow({ path: 'src/**' })], linked)).toBe('ask');
    expect(outcome([allow({ path: 'secrets/key' })], linked)).toBe('run');
    expect(outcome([deny({ path: 'src/**' })], linked)).toBe('policy_denied');
    expect(outcome([deny({ path: 'secrets/**' })], linked)).toBe('policy_denied');
  });

  it('finds paths inside commands where they really lie', () => {
    const rules = [allow({ command: 'echo *' }), allow({ path: 'out/**' })];
    const from = (command: string, locate: (path: string) => string | undefined) =>
      outcome(rules, { ...bash(command), roots: ['/work'], places: [{ at: '/work' }], locate });
    expect(from('echo a > out/a', () => '/work/out/a')).toBe('run');
    expect(from('echo a > out/link', () => '/work/.git/config')).toBe('ask');
    expect(from('echo a > out/link', () => undefined)).toBe('ask');
    expect(from('echo a > out/*', () => '/work/out/*')).toBe('ask');
  });
});

describe('a rule about URLs', () => {
  const at = (url: string) => question('web_fetch', fetch(url), { requiresApproval: true });

  it.each([
    ['example.com', 'https://example.com/a', 'run'],
    ['example.com', 'https://EXAMPLE.com./a', 'run'],
    ['example.com', 'https://example.com@evil.com/', 'ask'],
    ['example.com', 'https://user@example.com/', 'ask'],
    ['example.com', 'https://example.com.evil.com/', 'ask'],
    ['example.com', 'https://evil.com/example.com', 'ask'],
    ['example.com', 'https://evil.com#@example.com', 'ask'],
    ['example.com', 'https://evil.com\\@example.com', 'ask'],
    ['example.com', 'ftp://example.com/', 'ask'],
    ['example.com', 'https://www.example.com/', 'ask'],
    ['*.example.com', 'https://a.b.example.com:8443/', 'run'],
    ['*.example.com', 'https://example.com/', 'ask'],
    ['*.example.com', 'https://badexample.com/', 'ask'],
    ['https://example.com', 'http://example.com/', 'ask'],
    ['example.com:8080', 'http://example.com:8080/', 'run'],
    ['example.com:80', 'http://example.com/', 'run'],
    ['example.com:80', 'https://example.com/', 'ask'],
    ['b\u00fccher.example', 'https://xn--bcher-kva.example/', 'run'],
    ['xn--bcher-kva.example', 'https://B\u00dcCHER.example/', 'run'],
    ['[::1]:3000', 'http://[0:0:0:0:0:0:0:1]:3000/', 'run'],
    ['127.0.0.1', 'http://0x7f.1/', 'run'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/', 'run'],
    ['*', 'https://any.where/', 'run'],
    ['*', 'file:///etc/passwd', 'ask'],
    ['example.com/*', 'https://example.com/a', 'run'],
  ])('allows by %j: %j: %s', (url, asked, expected) => {
    expect(outcome([allow({ url })], at(asked))).toBe(expected);
  });

  it('denies a host with a user name or any scheme, and asks about a text that is not a URL', () => {
    const rules = [deny({ url: '*.evil.com' })];
    expect(outcome(rules, at('https://good.com@a.evil.com/'), { mode: 'auto' })).toBe('policy_denied');
    expect(outcome(rules, at('gopher://A.EVIL.com./'), { mode: 'auto' })).toBe('policy_denied');
    const unread = { ...at('http://['), requiresApproval: false };
    expect(outcome(rules, unread, { mode: 'auto' })).toBe('ask');
    expect(outcome([], unread, { mode: 'auto' })).toBe('run');
  });
});

describe('a rule about tools and circumstances', () => {
  const call = question('mcp_files', [], { sideEffecting: true });

  it('holds for all names of a tool, and takes patterns', () => {
    expect(outcome([deny({ tool: 'Bash' })], bash('ls'))).toBe('policy_denied');
    expect(outcome([deny({ tool: 'mcp_*' })], call)).toBe('policy_denied');
    expect(outcome([deny({ tool: ['x', 'mcp_file?'] })], call)).toBe('policy_denied');
    expect(outcome([deny({ tool: 'mcp' })], call)).toBe('ask');
    expect(outcome([deny({ tool: '__proto__' })], { ...call, name: 'constructor' })).toBe('ask');
  });

  it('matches category, side effects, idempotence, agent and mode', () => {
    const about = { ...call, category: 'external', idempotent: true, agent: 'reviewer' } as const;
    for (const rule of [
      { category: ['external', 'web'] },
      { side_effecting: true },
      { idempotent: true },
      { agent: 'review*' },
      { mode: 'auto' },
    ] as const) {
      expect([rule, outcome([deny(rule)], about, { mode: 'auto' })]).toEqual([rule, 'policy_denied']);
      expect([rule, outcome([deny(rule)], { ...call, sideEffecting: false })]).toEqual([rule, 'run']);
    }
    expect(outcome([deny({ agent: 'main' })], call)).toBe('policy_denied');
    expect(outcome([deny({ agent: 'main' })], about)).toBe('ask');
  });

  it('matches the kind of each effect, even of those inside a command', () => {
    expect(outcome([deny({ effect: 'delete' })], bash('ls; rm x'))).toBe('policy_denied');
    expect(outcome([deny({ effect: ['run'] })], bash('ls'))).toBe('policy_denied');
    expect(outcome([deny({ effect: 'write' })], call)).toBe('ask');
  });

  it('reads the arguments where no effects are given', () => {
    const { effects: _effects, ...bare } = bash('');
    const rules = [deny({ command: 'rm *' }), deny({ path: '*.pem' }), deny({ url: 'evil.com' })];
    expect(outcome(rules, { ...bare, args: { command: 'ls; rm x' } })).toBe('policy_denied');
    expect(outcome(rules, { ...bare, args: { file_path: 'a.pem' } })).toBe('policy_denied');
    expect(outcome(rules, { ...bare, args: { url: 'https://evil.com' } })).toBe('policy_denied');
    expect(outcome([allow({ command: 'ls' })], { ...bare, args: { command: 'ls' } })).toBe('run');
  });
});

describe('consent', () => {
  const both: readonly Effect[] = [...write('a'), ...write('b')];

  it('for a tool that requires approval comes from rules about arguments, for every part', () => {
    const required = (effects: readonly Effect[]) => question('edit', effects, { requiresApproval: true });
    expect(outcome([allow({ tool: 'edit' })], required(write('a')))).toBe('ask');
    expect(outcome([allow({ effect: 'write' })], required(write('a')))).toBe('ask');
    expect(outcome([], required(write('a')), { allowlist: ['edit'], mode: 'auto' })).toBe('ask');
    expect(outcome([allow({ path: 'a' })], required(write('a')))).toBe('run');
    expect(outcome([allow({ path: 'a' })], required(both))).toBe('ask');
    expect(outcome([allow({ path: ['a', 'b'] })], required(both))).toBe('run');
    expect(outcome([allow({ path: '**' })], required([...both, { kind: 'unknown' }]))).toBe('ask');
    expect(outcome([allow({ path: '**' })], required([]))).toBe('ask');
  });

  it('for side effects comes from any allowing rule, for every part that has some', () => {
    expect(outcome([allow({ tool: 'edit' })], question('edit', both))).toBe('run');
    expect(outcome([allow({ path: 'a' })], question('edit', both))).toBe('ask');
    expect(
      outcome([allow({ path: 'a' })], question('edit', [...write('a'), { kind: 'read', path: 'b' }])),
    ).toBe('run');
  });

  it('in mode deny takes an allowing rule for every part, or the allowlist; a rule that asks opens nothing', () => {
    const options = { mode: 'deny' } as const;
    expect(outcome([allow({ path: 'a' })], question('edit', write('a')), options)).toBe('run');
    expect(outcome([allow({ path: 'a' })], question('edit', both), options)).toBe('policy_denied');
    expect(outcome([ask({ path: 'a' })], question('edit', write('a')), options)).toBe('policy_denied');
    expect(
      outcome([ask({ path: 'a' })], question('edit', write('a')), { ...options, allowlist: ['edit'] }),
    ).toBe('ask');
  });

  it('is not given by any rule for what is disabled, denylisted, or outside the sandbox', () => {
    const rules = [allow({}), allow({ path: '**' })];
    const outside = { ...question('edit', write('a')), sandboxViolation: true };
    expect(outcome(rules, question('edit', write('a')), { enabled: false })).toBe('policy_disabled');
    expect(outcome(rules, question('edit', write('a')), { denylist: ['edit'] })).toBe('denylisted');
    expect(outcome(rules, outside)).toBe('sandbox_violation');
    expect(outcome([deny({})], outside)).toBe('sandbox_violation');
  });
});

describe('the denial', () => {
  it('names the rule, the pattern that matched, the part, the file and line, and what to do instead (A010)', () => {
    const policy = createPolicy({
      tiers: {
        user: [
          deny({
            path: ['a', '*.pem'],
            reason: 'Ask for a key by name.',
            origin: { tier: 'user', file: 'policy.toml', line: 12 },
          }),
        ],
      },
    });
    const answer = policy.decide(question('write_file', write('x/key.pem')));
    expect(inShort(answer)).toBe('policy_denied');
    expect(answer.reason).toBe('Write x/key.pem is denied: it matches "*.pem". Ask for a key by name.');
    expect(answer.hint).toBe('The rule: deny path "a" or "*.pem", user rules[0] (policy.toml:12).');
    expect(answer.rule).toBe('user rules[0] (policy.toml:12)');
  });
});

describe('a rule about arguments', () => {
  const remote = (access: 'read' | 'write', args?: JsonObject, more: object = {}) =>
    question('create_issue', [{ kind: 'call', server: 'git', tool: 'create_issue', access }], {
      ...(args === undefined ? {} : { args }),
      ...more,
    });
  const inSandbox = { tool: 'create_issue', args: { '/repo': 'sandbox-*' } };

  it('allows a matching call, even if the tool requires approval, and none whose argument is missing', () => {
    const outcomeOf = (args?: JsonObject) =>
      outcome([allow(inSandbox)], remote('write', args, { requiresApproval: true }));
    expect(outcomeOf({ repo: 'sandbox-1' })).toBe('run');
    expect(outcomeOf({ repo: 'prod' })).toBe('ask');
    expect(outcomeOf({ repo: 7 })).toBe('ask');
    expect(outcomeOf({})).toBe('ask');
    expect(outcomeOf()).toBe('ask');
  });

  it('denies where the argument is missing or of another type, and says so', () => {
    const policy = createPolicy({
      mode: 'auto',
      rules: [deny({ tool: 'create_issue', args: { '/repo': 'prod-*' } })],
    });
    const of = (args?: JsonObject) => policy.decide(remote('write', args));
    expect(of({ repo: 'sandbox-1' }).disposition).toBe('execute_now');
    expect(of({ repo: 'prod-1' })).toMatchObject({
      code: 'policy_denied',
      hint: expect.stringContaining('prod-*'),
    });
    expect(of({}).reason).toContain('the argument /repo is missing');
    expect(of().reason).toContain('the argument /repo is missing');
    expect(of({ repo: ['prod-1'] }).reason).toContain('the argument /repo is not a text');
    expect(policy.decide(question('other', write('a'), { args: {} })).disposition).toBe('execute_now');
  });

  it('asks where the argument matches, and only there', () => {
    const rules = [ask({ tool: 'create_issue', args: { '/priority': [8, 10] } })];
    const of = (args: JsonObject) => outcome(rules, remote('write', args), { mode: 'auto' });
    expect([of({ priority: 8 }), of({ priority: 7 }), of({ priority: '9' }), of({})]).toEqual([
      'ask',
      'run',
      'run',
      'run',
    ]);
  });

  it('holds with all of its arguments, and with all of its other fields', () => {
    const rules = [
      allow({ effect: 'call', args: { '/repo': 'sandbox-*', '/labels/0': ['bug', 'docs'], '/draft': true } }),
    ];
    const args = { repo: 'sandbox-1', labels: ['docs'], draft: true };
    expect(outcome(rules, remote('write', args))).toBe('run');
    expect(outcome(rules, remote('write', { ...args, draft: false }))).toBe('ask');
    expect(outcome(rules, remote('write', { ...args, labels: [] }))).toBe('ask');
    expect(outcome(rules, question('create_issue', write('a'), { args }))).toBe('ask');
  });

  it('that allows outweighs one about the tool; one that denies or asks outweighs any pattern', () => {
    const matching = remote('write', { repo: 'sandbox-1', force: true });
    expect(outcome([ask({ tool: 'create_issue' }), allow(inSandbox)], matching)).toBe('run');
    const forced = deny({ tool: 'create_issue', args: { '/force': true } });
    for (const rules of [
      [allow(inSandbox), forced],
      [forced, allow({ tool: 'create_issue', args: { '/repo': 'sandbox-1', '/force': true } })],
    ]) {
      expect(outcome(rules, matching)).toBe('policy_denied');
    }
    const push = { ...bash('git push'), args: { command: 'git push', timeout: 600_000 } };
    const long = deny({ tool: 'bash', args: { '/timeout': [100_000, 600_000] } });
    expect(outcome([allow({ command: 'git push' }), long], push)).toBe('policy_denied');
  });

  it('does not allow a command: the text of an argument says nothing about the rest of the line', () => {
    const rules = [allow({ tool: 'bash', args: { '/command': 'git *' } })];
    for (const command of ['git log', 'git log; rm x']) {
      expect(outcome(rules, { ...bash(command), args: { command } })).toBe('ask');
    }
    const both = [allow({ command: 'git log', args: { '/timeout': [1, 1000] } })];
    expect(outcome(both, { ...bash('git log'), args: { timeout: 500 } })).toBe('run');
    expect(outcome(both, { ...bash('git log'), args: { timeout: 5000 } })).toBe('ask');
    expect(outcome(both, { ...bash('git log'), args: {} })).toBe('ask');
  });

  it('is held against its own examples', () => {
    const examples = { match: { tool: 'create_issue', args: { repo: 'sandbox-1' } } };
    expect(() => createPolicy({ rules: [allow({ ...inSandbox, ...examples })] })).not.toThrow();
    expect(() =>
      createPolicy({ rules: [allow({ ...inSandbox, effect: 'call', ...examples })] }),
    ).not.toThrow();
    expect(() =>
      createPolicy({ rules: [allow({ ...inSandbox, not_match: { args: { repo: 'prod' } } })] }),
    ).not.toThrow();
    expect(() =>
      createPolicy({ rules: [allow({ ...inSandbox, match: { args: { repo: 'prod' } } })] }),
    ).toThrow(/does not match its own example/);
    // A text is the name of the tool: without arguments, a denying rule matches it.
    expect(() => createPolicy({ rules: [deny({ ...inSandbox, match: 'create_issue' })] })).not.toThrow();
  });

  it('is explained, and found if another always decides before it', () => {
    const policy = createPolicy({ rules: [allow(inSandbox), deny(inSandbox)] });
    const outcomes = (args: JsonObject) =>
      policy.explain(remote('write', args)).candidates.map(({ outcome: said }) => said);
    expect(outcomes({ repo: 'prod' })[0]).toBe('the argument /repo does not match');
    expect(outcomes({})[0]).toBe('the argument /repo is missing');
    expect(policy.problems()).toEqual([
      expect.stringMatching(/rules\[0\]: it never decides, because .*rules\[1\]/),
    ]);
    expect(
      createPolicy({
        rules: [deny({ tool: 'a', args: { '/x': 1 } }), allow({ tool: 'a', args: { '/x': 2 } })],
      }).problems(),
    ).toEqual([]);
    // If the argument is missing, a rule that allows does not match, and one that denies does.
    expect(createPolicy({ rules: [ask(inSandbox), deny(inSandbox)] }).problems()).toHaveLength(1);
  });

  it('asks once of a call with a thousand parts, and never of a call that no such rule is about', () => {
    const effects = Array.from(
      { length: 1000 },
      (_, index): Effect => ({ kind: 'write', path: `f${index}` }),
    );
    const args = { text: 'a'.repeat(1_000_000) };
    const rules = [deny({ tool: 't', args: { '/text': '*b*' } })];
    const startedAt = performance.now();
    expect(outcome(rules, question('t', effects, { args }), { mode: 'auto' })).toBe('run');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
});
