import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { analyzeCommand } from './analyze-command.js';
import { analyzeOnce } from './analyze-once.js';

/** One command per line; `##` begins a heading, which says why the following lines are no longer blocked. */
function readLines(name: string): string[] {
  const text = readFileSync(new URL(`./fixtures/${name}.txt`, import.meta.url), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('## '));
}

function wronglyAnswered(lines: readonly string[], isRight: (verdict: string) => boolean): string[] {
  return lines
    .map((line) => ({ line, ...analyzeCommand(line) }))
    .filter(({ verdict }) => !isRight(verdict))
    .map(({ line, verdict, reasons }) => `${verdict}: ${line} (${reasons.join(' ')})`);
}

describe('analyzeCommand()', () => {
  it('blocks every spelling of what destroys the machine (A007, B012–B015)', () => {
    const lines = readLines('destructive');
    expect(lines.length).toBeGreaterThan(1100);
    expect(wronglyAnswered(lines, (verdict) => verdict === 'block')).toEqual([]);
  });

  it('allows harmless commands, even if their text names dangerous ones (B016–B018)', () => {
    const lines = readLines('harmless');
    expect(lines.length).toBeGreaterThan(600);
    expect(wronglyAnswered(lines, (verdict) => verdict === 'allow')).toEqual([]);
  });

  it('asks about at most 8 everyday commands, and blocks none', () => {
    const lines = readLines('everyday');
    expect(lines.length).toBeGreaterThan(368);
    expect(wronglyAnswered(lines, (verdict) => verdict !== 'block')).toEqual([]);
    expect(wronglyAnswered(lines, (verdict) => verdict === 'allow').length).toBeLessThanOrEqual(8);
  });

  it('blocks no text that only speaks of what is destructive (B016, F010)', () => {
    const lines = readLines('mentions');
    expect(lines.length).toBeGreaterThan(60);
    expect(wronglyAnswered(lines, (verdict) => verdict !== 'block')).toEqual([]);
  });

  it('asks about commands that are not certain, and never allows them (F027)', () => {
    const lines = readLines('unclear');
    expect(lines.length).toBeGreaterThan(100);
    expect(wronglyAnswered(lines, (verdict) => verdict === 'ask')).toEqual([]);
  });

  it('says blocked, dangerous and what was hit (A010, B012)', () => {
    const [reason] = analyzeCommand('rm -rf /').reasons;
    expect(reason).toBe('Command blocked as dangerous: rm would remove / with all below it.');
    expect(analyzeCommand('echo x | tee /dev/sda').reasons[0]).toContain('/dev/sda');
    expect(analyzeCommand('ls').reasons).toEqual([]);
  });

  it.each([
    ['cat <<EOF | sh\nrm -rf /\nEOF', 'block'],
    ["bash <<'EOF'\nrm -rf /\nEOF", 'block'],
    ['sudo bash <<-EOF\n\trm -rf /\n\tEOF\n', 'block'],
    ['bash <<EOF\necho $(rm -rf /)\nEOF', 'block'],
    ['cat <<EOF\n$(rm -rf /)\nEOF', 'block'],
    ['cat <<EOF\n`rm -rf /`\nEOF', 'block'],
    ["ssh host <<'EOF'\nls\nEOF", 'allow'],
    ["ssh host <<'EOF'\nrm -rf /\nEOF", 'block'],
    ['awk \'{ # "\nprint "id" | "sh" # "\n}\'', 'ask'],
    ['awk \'# x \\\nBEGIN { print "id" | "sh" }\'', 'ask'],
    ['awk \'BEGIN { a = 4 \\\n / 2; print "id" | "sh"; b = 4 / 2 }\'', 'ask'],
    ['awk \'{ print "x" \\\n> "out" }\'', 'ask'],
    ['awk \'{ print "x",\n"y" > "out" }\'', 'ask'],
    ["awk '{ # total\n s += $1 }\nEND { print s }' f", 'allow'],
    ["python3 <<'EOF'\nimport shutil; shutil.rmtree('/')\nEOF", 'ask'],
    ["perl <<'EOF'\nprint 1\nEOF", 'ask'],
    ["python3 script.py <<'EOF'\nsome input\nEOF", 'allow'],
    ["cat > config.json <<'EOF'\n{}\nEOF", 'allow'],
    ["cat > x.py <<'EOF'\nprint(1)\nEOF\npython3 x.py", 'ask'],
    ["cat > x.sh <<'EOF'\nrm -rf /\nEOF\nbash x.sh", 'ask'],
    ["cat > x.sh <<'EOF'\nls\nEOF\nbash x.sh", 'ask'],
    ['rm -rf \\\n/', 'block'],
    ['r\\\nm -rf /', 'block'],
    ['ls\nrm -rf /\n', 'block'],
    ['ls #x\nrm -rf /', 'block'],
    ['if true\nthen\nrm -rf /\nfi', 'block'],
    ['readonly x=/\nx=/tmp/a\nrm -rf $x', 'ask'],
    ["cat <<$'EOF'\nx\n$EOF\nrm -rf /\nEOF", 'ask'],
    ['f() {\n  local x=/tmp/a\n  rm -rf "$x"\n}\nf', 'allow'],
    ["cat <<'EOF' > notes.md\nrm -rf /\n$(rm -rf /)\nEOF", 'allow'],
    ['cat <<EOF > notes.md\nrm -rf /\nEOF', 'allow'],
    ['cat <<\\EOF\n$(rm -rf /)\nEOF', 'allow'],
    ['cat <<EOF\n\\$(rm -rf /)\nEOF', 'allow'],
    ['tee x <<< "rm -rf /"', 'allow'],
    ["git commit -F - <<'EOF'\nrm -rf /\nEOF", 'allow'],
    ['ls\n\n# rm -rf /\npwd', 'allow'],
    ['bash <<EOF\nls\nEOF', 'allow'],
    ['while read -r x; do\n  echo "$x"\ndone < list', 'allow'],
    ['', 'allow'],
    ['   \n', 'allow'],
    ['echo a\0b', 'ask'],
    ['cat <<EOF\nunfinished', 'ask'],
  ])('reads several lines: %j', (text, verdict) => {
    expect(analyzeCommand(text)).toMatchObject({ verdict });
  });
});

describe('what analyzeCommand() says of shells that read a text in another way', () => {
  it.each<[string, Record<'bash' | 'sh' | 'any', string>]>([
    ['touch {1..3}', { bash: 'allow', sh: 'ask', any: 'allow' }],
    ['touch {a,b}', { bash: 'allow', sh: 'ask', any: 'allow' }],
    ["awk '{print $1,$2}' f", { bash: 'allow', sh: 'allow', any: 'allow' }],
    ["echo $'\\'; rm -rf / #'", { bash: 'allow', sh: 'ask', any: 'ask' }],
    ['[[ -n a && reboot ]]', { bash: 'allow', sh: 'ask', any: 'ask' }],
    ['[[ -n $x && -z $y ]]', { bash: 'allow', sh: 'ask', any: 'allow' }],
    ['((reboot))', { bash: 'allow', sh: 'ask', any: 'ask' }],
    ['((x++))', { bash: 'allow', sh: 'ask', any: 'allow' }],
    ['x=/; declare x=/tmp/a; rm -rf $x', { bash: 'ask', sh: 'ask', any: 'ask' }],
    ['x=/; x+=tmp/a; rm -rf $x', { bash: 'ask', sh: 'ask', any: 'ask' }],
    ["sh -c '[[ -n a && reboot ]]'", { bash: 'ask', sh: 'ask', any: 'ask' }],
    ['(( $x > 5 ))', { bash: 'allow', sh: 'ask', any: 'ask' }],
    ['ls -la | head', { bash: 'allow', sh: 'allow', any: 'allow' }],
  ])('%s', (text, { bash, sh, any }) => {
    expect(analyzeCommand(text, 'sh').verdict).toBe(sh);
    expect(analyzeCommand(text).verdict).toBe(any);
    expect(analyzeCommand(text, 'bash').verdict).toBe(bash);
  });
});

describe('the commands that analyzeCommand() finds', () => {
  it.each<[string, string[][]]>([
    ['ls -la "a b"', [['ls', '-la', 'a b']]],
    ["'l's -\"a\" $'\\x62'", [['ls', '-a', 'b']]],
    ['a | b && c; d', [['a'], ['b'], ['c'], ['d']]],
    ['echo $(a "$(b)")', [['b'], ['a', '$(b)'], ['echo', '$(a "$(b)")']]],
    ['f() { a; }', [['a']]],
    ['cat <(a) > >(b)', [['a'], ['b'], ['cat', '<(a)']]],
    [
      'sudo -u me env A=1 a b',
      [
        ['sudo', '-u', 'me', 'env', 'A=1', 'a', 'b'],
        ['env', 'A=1', 'a', 'b'],
        ['a', 'b'],
      ],
    ],
    ["sh -c 'a; b'", [['sh', '-c', 'a; b'], ['a'], ['b']]],
    [
      'echo a | xargs b',
      [
        ['echo', 'a'],
        ['xargs', 'b'],
        ['b', 'a'],
      ],
    ],
    [
      'find . -exec a {} \\;',
      [
        ['find', '.', '-exec', 'a', '{}', ';'],
        ['a', './{}'],
      ],
    ],
    ['bash <<< a', [['bash'], ['a']]],
    ['echo [$(a)]', [['a'], ['echo', '[$(a)]']]],
    ['a {,b}', [['a', 'b']]],
    [
      'set -e a b; "$1" "$2"',
      [
        ['set', '-e', 'a', 'b'],
        ['a', 'b'],
      ],
    ],
    [
      'for x in 1 2; do a $x; done',
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    ['x=1', []],
  ])('%s', (text, commands) => {
    expect(analyzeCommand(text).commands).toEqual(commands);
  });
});

describe('the effects that analyzeCommand() tells', () => {
  it.each<[string, object[]]>([
    [
      'cat a > b',
      [
        { kind: 'write', path: 'b' },
        { kind: 'read', path: 'a' },
      ],
    ],
    ['cd sub && rm x', [{ kind: 'delete', path: 'sub/x' }]],
    [
      'cp a b',
      [
        { kind: 'read', path: 'a' },
        { kind: 'write', path: 'b' },
      ],
    ],
    [
      'mv a b',
      [
        { kind: 'delete', path: 'a' },
        { kind: 'write', path: 'b' },
      ],
    ],
    [
      'sed -i s/a/b/ f',
      [
        { kind: 'read', path: 'f' },
        { kind: 'write', path: 'f' },
      ],
    ],
    ['sed s/a/b/ f', [{ kind: 'read', path: 'f' }]],
    ['grep -n x f', [{ kind: 'read', path: 'f' }]],
    ['head -n 3 f', [{ kind: 'read', path: 'f' }]],
    ['mkdir -p a/b', [{ kind: 'write', path: 'a/b' }]],
    ['touch ~/x', [{ kind: 'write', path: '~/x' }]],
    ['ls 2>/dev/null', []],
    ['cat < in', [{ kind: 'read', path: 'in' }]],
    ['echo x | tee -a log', [{ kind: 'write', path: 'log' }]],
    ['curl https://example.com/x', [{ kind: 'fetch', url: 'https://example.com/x' }]],
    [
      'curl -o f example.com',
      [
        { kind: 'fetch', url: 'http://example.com' },
        { kind: 'write', path: 'f' },
      ],
    ],
    [
      'git clone https://example.com/x.git y',
      [
        { kind: 'fetch', url: 'https://example.com/x.git' },
        { kind: 'write', path: 'y' },
      ],
    ],
    ['ssh me@host ls', [{ kind: 'fetch', url: 'ssh://me@host' }]],
    ['ping -c 1 host', [{ kind: 'fetch', url: 'icmp://host' }]],
    ['echo x > $y', [{ kind: 'unknown' }]],
    ['echo ls | tee -a a; ./a', [{ kind: 'write', path: 'a' }, { kind: 'unknown' }]],
    ['tar -xf x.tar -C out', []],
    ['cat "$PWD/a"', [{ kind: 'read', path: 'a' }]],
    ['cd src && cat "$PWD/a" ../"$(pwd)"', expect.arrayContaining([{ kind: 'read', path: 'src/a' }])],
    ['rm -r "`pwd`/build"', [{ kind: 'delete', path: 'build' }]],
    ['cat "$PWD/../a"', [{ kind: 'read', path: '../a' }]],
    ['cat ~/a', [{ kind: 'read', path: '~/a' }]],
  ])('%s', (text, effects) => {
    expect(analyzeCommand(text).effects).toEqual(effects);
  });
});

describe('the limits of analyzeCommand()', () => {
  it('never throws, and knows its verdicts', () => {
    const marks = [
      '$(',
      ')',
      '`',
      '"',
      "'",
      '{',
      '}',
      '${',
      '$((',
      '<<',
      '\n',
      'rm',
      ' -rf ',
      '/',
      '|',
      '&',
      ';',
      '\\',
      'if ',
      'sh -c ',
      'sed ',
      '*',
      '[',
      '\0',
    ];
    const text = fc
      .array(fc.oneof(fc.constantFrom(...marks), fc.string({ maxLength: 4 })))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (command) => {
        const { verdict, reasons } = analyzeCommand(command);
        expect(['allow', 'ask', 'block']).toContain(verdict);
        expect(reasons.length > 0).toBe(verdict !== 'allow');
      }),
      { numRuns: 500 },
    );
  });

  it('asks about more than 64 KB', () => {
    expect(analyzeCommand(`echo ${'a'.repeat(65_531)}`).verdict).toBe('allow');
    expect(analyzeCommand(`echo ${'a'.repeat(65_532)}`).verdict).toBe('ask');
  });

  eachOf<[string, string]>(
    [
      ['substitutions without end', '$('.repeat(30_000)],
      ['closed substitutions', `${'$(echo '.repeat(200)}${'x '.repeat(20_000)}${')'.repeat(200)}`],
      ['parentheses', '('.repeat(60_000)],
      ['braces within braces', `echo ${'{a,'.repeat(15_000)}${'}'.repeat(15_000)}`],
      ['a range', 'echo {1..99999999}'],
      [
        'functions that call twice',
        Array.from({ length: 300 }, (_, i) => `f${i}(){ f${i + 1}; f${i + 1}; }`).join('\n'),
      ],
      ['a chain of wrappers', `${'sudo '.repeat(12_000)}ls`],
      ['loops within loops', `${'for i in 1 2 3 4 5 6 7 8 9; do '.repeat(6)}a $i${'; done'.repeat(6)}`],
      ['a long value that is used often', `x=${'a'.repeat(30_000)};echo ${'$x'.repeat(17_000)}`],
      ['values that double', `x=a;${'x=$x$x;'.repeat(60)}$x`],
      ['many substitutions', 'echo $(id) '.repeat(5_000)],
      ['backquotes', '`'.repeat(60_000)],
      ['braces side by side', `echo ${'{a,b}'.repeat(10_000)}`],
    ],
    8,
  )('gives up in time: %s', (_what, text) => {
    const before = process.cpuUsage().user;
    expect(analyzeCommand(text.slice(0, 65_536)).verdict).toBe('ask');
    // Ten times the duration on an idle machine: without the limits it takes minutes.
    expect((process.cpuUsage().user - before) / 1000).toBeLessThan(3_000);
  });
});

describe('analyzeOnce()', () => {
  const first = (count: number, text: string) =>
    Array.from({ length: count }, (_, index) => analyzeOnce(`${text} ${index}`))[0];

  it('remembers the commands of a large batch, and not the text of every command ever planned', () => {
    const everyday = 'git diff --stat HEAD~1 -- src/policy/shell/analysis.ts';
    const batch = first(1_000, everyday);
    expect(analyzeOnce(`${everyday} 0`)).toBe(batch);
    first(1_000, `echo ${'a'.repeat(900)}`);
    expect(analyzeOnce(`${everyday} 0`)).not.toBe(batch);
  });

  it('tells shells apart', () => {
    expect(analyzeOnce('touch {a,b}', 'bash').verdict).toBe('allow');
    expect(analyzeOnce('touch {a,b}', 'sh').verdict).toBe('ask');
  });
});
