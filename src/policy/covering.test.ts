// biome-ignore-all lint/suspicious/noTemplateCurlyInString: commands are what is tested.
import { describe, expect, it } from 'vitest';
import type { PolicyQuestion } from '../contract/policy.js';
import { createAnalyzingPolicy } from './create-analyzing-policy.js';
import { bash, inShort } from './fixtures/ask.js';
import type { PolicyRule } from './rules/policy-rule.js';

/**
 * The decision on a command line under rules that allow these commands (a `/` before: writes to this path).
 */
function outcome(allowed: string, command: string | PolicyQuestion): string {
  const rules = allowed
    .split('; ')
    .map(
      (text): PolicyRule =>
        text.startsWith('/')
          ? { decision: 'allow', effect: 'write', path: text.slice(1) }
          : { decision: 'allow', command: text },
    );
  const question = typeof command === 'string' ? bash(command) : command;
  return inShort(createAnalyzingPolicy({ denylist: [], rules }).decide(question));
}

describe('a rule that allows a command', () => {
  it.each([
    ['ls *', 'for PATH in ./evil; do ls; done'],
    ['ls *; printf *', 'printf -v PATH ./evil; ls'],
    ['ls *; read *', 'read PATH <<< ./evil; ls'],
    ['ls *', 'select PATH in ./evil; do ls; done'],
    ['ls *', ': "${PATH:=./evil}"; ls'],
    ['ls *; : *', ': "${BASH_ENV:=./evil}"; ls'],
    ['ls *; mapfile *', 'mapfile PATH <<< ./evil; ls'],
    ['ls *; getopts *', 'getopts a PATH; ls'],
    ['ls *', '((PATH=1)); ls'],
    ['ls *; let *', 'let PATH=1; ls'],
    ['ls *; exec *', 'exec {PATH}>x; ls'],
    ['ls *; unset *', 'unset PATH; ls'],
    ['ls *', 'X=1; ls'],
    ['ls *', 'x=1 ls'],
    ['ls *; export *', 'export HOME=evil; ls'],
    ['ls *; declare *', 'declare -x GIT_DIR=evil; ls'],
    ['git status *', 'HOME=evil git status'],
    ['git status *', 'GIT_DIR=evil git status'],
    ['git status *', 'XDG_CONFIG_HOME=$PWD git status'],
    ['git status *', 'GIT_TRACE=file git status'],
    ['git status *', 'GIT_DIR=evil; git status'],
    ['git status *; for *', 'for GIT_DIR in evil; do git status; done'],
    ['git status *; env *', 'env GIT_DIR=evil git status'],
    ['git status *; sudo *', 'sudo GIT_DIR=evil git status'],
    ['git status *; timeout *', 'GIT_DIR=evil timeout 9 git status'],
    ['A=* git status *', 'A=1 B=2 git status'],
    ['A=* git status *', 'git status'],
    ['A=1 git status *', 'A=12 git status'],
  ])('covers no assignment that it does not spell: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('ask');
  });

  it.each([
    ['CI=* npm test *', 'CI=1 npm test unit'],
    ['CI=* npm test --if-*', 'CI=1 npm test --if-present'],
    ['CI=1 npm test', 'CI=1 npm test'],
    ['A=* B=* ls', 'B=1 A=2 ls'],
    ['export CI=*; ls *', 'export CI=1; ls'],
    ['CI=*; ls *', 'CI=1; ls'],
    ['env *; CI=* npm test', 'env CI=1 npm test'],
    ['*', 'CI=1 npm test; X=2; cd a && git log'],
    ['wc *', 'for f in a b; do wc -l "$f"; done'],
    ['read *; echo *; true', 'while read -r line; do echo "$line"; done'],
    ['ls *', 'ls -la | ls'],
    ['awk *', "awk '{ if ($1 > 2) print $2 }' f"],
    ['awk *', "awk '{ print ($1 > 2) }' f"],
    ['uniq *', 'uniq -c a'],
    ['go test *', 'go test ./...'],
    ['npm test -- --watch *', 'npm test -- --watch'],
    ['file *', 'file a b'],
  ])('covers what it spells, and the variables of loops: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('run');
  });

  it.each([
    ['git status *; cd *', 'cd evil/repo && git status'],
    ['tar tf *; cd *', 'cd evil && tar tf t.tar'],
    ['git status *; cd *', 'cd evil; cd repo; git status'],
    ['git status *; pushd *', 'pushd evil && git status'],
    ['npm test; cd *', 'cd evil && npm test'],
    ['make; cd *', '(cd evil; make)'],
    ['./run.sh; cd *', 'cd evil && ./run.sh'],
    ['./ls; cd *', 'cd evil && ./ls'],
    ['mytool; cd *', 'cd evil && mytool'],
    ['git status; env *', 'env -C evil git status'],
    ['git status; env *', 'env --chdir=evil git status'],
    ['git status; find *', 'find . -execdir git status ";"'],
    ['git status; sudo *', 'sudo -D evil git status'],
    ['PWD=a git status; cd *', 'cd b && git status'],
    ['PWD=a/* git status; cd *', 'cd a/../b && git status'],
  ])('covers no other directory, where a program goes by that: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('ask');
  });

  it.each([
    ['PWD=packages/* npm test; cd *', 'cd packages/a && npm test'],
    ['ls *; cd *', 'cd sub && ls'],
    ['git status; cd *', 'cd sub && cd .. && git status'],
    ['git -C * status', 'git -C sub status'],
  ])('covers a directory that it spells, and programs that go by none: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('run');
  });

  it('takes a root for what was meant, and the directory of a call for what it is', () => {
    const inside = (command: string, cwd?: string, at = '/w'): PolicyQuestion => ({
      ...bash(command),
      roots: ['/w', '/other'],
      effects: [{ kind: 'run', command, shell: 'bash', ...(cwd === undefined ? {} : { cwd }) }],
      places: [{ at }],
    });
    expect(outcome('git status; cd *', inside('cd /w && git status'))).toBe('run');
    expect(outcome('git status; cd *', inside('cd /other && git status'))).toBe('run');
    expect(outcome('git status; cd *', inside('cd /w/sub && git status'))).toBe('ask');
    expect(outcome('git status', inside('git status', 'sub', '/w/sub'))).toBe('ask');
    expect(outcome('PWD=sub git status', inside('git status', 'sub', '/w/sub'))).toBe('run');
    expect(outcome('git status', inside('git status', '/other', '/other'))).toBe('run');
    expect(outcome('ls', inside('ls', 'sub', '/w/sub'))).toBe('run');
  });

  it.each([
    ['rg *', 'rg --pre ./evil x'],
    ['rg *', 'rg --pre=./evil x'],
    ['rg *', 'rg --hostname-bin ./evil x'],
    ['ag *', 'ag --pager ./evil x'],
    ['git log *', 'git log --output=notes.txt'],
    ['git log *', 'git log --output Makefile'],
    ['git diff *', 'git diff --outpu=Makefile'],
    ['git format-patch *', 'git format-patch -o out HEAD'],
    ['git archive *', 'git archive -oout.tar HEAD'],
    ['sort *', 'sort a -o b'],
    ['sed *', 'sed -i s/a/b/ f'],
    ['sed *', 'sed "w out" f'],
    ['awk *', 'awk \'{print > "out"}\' f'],
    ['find *', 'find . -delete'],
    ['find *', 'find . -fprint out'],
    ['curl *', 'curl -o out https://example.com'],
    ['curl *', 'curl -D out https://example.com'],
    ['tree *', 'tree -o out'],
    ['strace *; ls', 'strace -o out ls'],
    ['gcc *', 'gcc -o out a.c'],
    ['gcc *', 'gcc -MD -MF out a.c'],
    ['gcc *', 'gcc -B./evil a.c'],
    ['uniq *', 'uniq a Makefile'],
    ['xxd *', 'xxd -r a Makefile'],
    ['file *', 'file -C -m x'],
    ['openssl *', 'openssl enc -in a -out Makefile'],
    ['gpg *', 'gpg -o Makefile -d x'],
    ['psql *', 'psql -o Makefile -c x'],
    ['go build *', 'go build -o Makefile'],
    ['go build *', 'go build -toolexec ./evil'],
    ['go vet *', 'go vet -vettool=./evil'],
    ['awk *', "awk -v x=1 '{print > x}' f"],
    ['awk *', 'awk \'{print > $1 ".txt"}\' f'],
    ['gawk *', "gawk -i inplace '{print}' f"],
    ['gawk *', "gawk -i evil '{print}' f"],
    ['git grep *', 'git grep --open-files=./evil x'],
    ['git clone *', 'git clone --template=./evil x'],
    ['git init *', 'git init --templ evil'],
    ['npm test *', 'npm test --script-shell=./evil'],
    ['npm run *', "npm run x --node-options='--require ./evil'"],
    ['man *', 'man -H./evil ls'],
    ['bat *', 'bat --pager ./evil f'],
    ['less *', 'less -k evil f'],
    ['dc *', "dc -e '!./evil'"],
    ['cpio *', 'cpio --rsh-command=./evil -o'],
    ['jobs *', 'jobs -x ./evil'],
    ['tar *', 'tar -I zstdx -cf x y'],
    ['tar *', 'tar --to-command=./x -xf y'],
    ['rsync *', "rsync -e 'ssh -p 1; ls' a b:c"],
    ['make *', 'make SHELL=/x'],
    ['make *', "make --eval='$(shell ls)'"],
    ['uv *', "uv run --with x 'ls'"],
  ])('covers no option that runs or writes: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('ask');
  });

  it.each([
    ['git log --output=* **', 'git log --output=notes.txt'],
    ['git log --output=notes.txt', 'git log --output=notes.txt'],
    ['sed -i *', 'sed -i s/a/b/ f'],
    ['sort * -o b', 'sort a -o b'],
    ['find * -delete', 'find . -delete'],
    ['touch *', 'touch a'],
    ['git log *', 'git log --oneline -n 3'],
    ['rg *', 'rg -n --glob "*.ts" x src'],
    ['find *', 'find . -name "*.ts"'],
  ])('covers an option that it spells, and what the program is for: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('run');
  });

  it.each([
    ['make *', 'make -C evil'],
    ['make *', 'make -f evil'],
    ['make *', 'make CC=./evil'],
    ['npm test *', 'npm test --prefix evil'],
    ['npm test *', 'npm test --prefix=evil'],
    ['npm test *', 'npm test -- --config=evil.js'],
    ['npm test *', 'npm test --if-present'],
    ['tar *', 'tar tf t.tar --index-file=package.json'],
    ['tar tf *', 'tar tf t.tar --index-file=package.json'],
    ['tar *', 'tar xf a -C src'],
    ['pytest *', 'pytest --basetemp=src'],
    ['pytest *', 'pytest -p evil'],
    ['git branch *', 'git branch -D x'],
    ['git branch *', 'git branch -vD x'],
    ['git *', 'git -C evil status'],
    ['git *', 'git -c core.editor=vi commit'],
    ['git *', 'git branch --unset-upstream'],
    ['git log *', 'git log --oneline --ext-diff'],
    ['kubectl *', 'kubectl --kubeconfig evil get pods'],
    ['kubectl get *', 'kubectl get pods --kubeconfig=evil'],
    ['docker *', 'docker run --rm -v /:/host x'],
    ['cargo test *', 'cargo test --config evil.toml'],
    ['go test *', 'go test -exec ./evil'],
    ['ls *', 'ls --no-such-option'],
    ['cat *', 'cat -z a'],
    ['rg *', 'rg -z x a'],
    ['rg *', 'rg --no-such x a'],
    ['rg *', 'rg -nz x a'],
    ['rg *', 'rg ${x:---pre=./evil} a'],
    ['rg *', 'rg $x a'],
    ['rg *', 'rg "$x" a'],
    ['rg *', 'rg a$x b'],
    ['rg *', 'x=--pre=./evil; rg $x a b'],
    ['rg *', 'rg {--pre=./evil,x} a'],
    ['rg x *', 'rg x *'],
    ['rg *', 'rg x [-]*'],
    ['./ls *', './ls -l'],
    ['less *', 'less +!id a'],
    ['rm *', 'rm -rf src'],
    ['cp *', 'cp -t src a'],
    ['dd *', 'dd if=a of=b'],
    ['xargs *; rg *', 'git ls-files | xargs rg x'],
    ['rm build/*', 'rm build/"$x"'],
    ['uniq *', 'uniq a b'],
    ['git *', 'git $x'],
    ['make *', 'make $x'],
    ['file *', 'file -C -m magic'],
    ['psql *', "psql -c '\\\\! ls'"],
    ['ssh *', 'ssh -o PKCS11Provider=./x.so host'],
    ['bash *; ls', "bash -c 'ls'"],
    ['sudo *; ls', 'sudo -u root ls'],
    ['mkdir *; cd *', 'cd sub && mkdir x'],
    ['rm build/*; cd *', 'cd sub && rm build/x'],
  ])(
    'covers no option that it does not spell, unless that is known to be harmless: %s / %s',
    (allowed, command) => {
      expect(outcome(allowed, command)).toBe('ask');
    },
  );

  it.each([
    ['ls *', 'ls -la --color=never src'],
    ['ls *', 'ls -1'],
    ['find *', 'find . -size +1M -mtime -1'],
    ['git status *', 'git status --short -b'],
    ['git *', 'git --no-pager log --oneline -20 --format=%h src'],
    ['git diff *', 'git diff --stat HEAD~1 -- -odd'],
    ['git branch *', 'git branch -a --sort=-committerdate'],
    ['rg *', 'rg -n -C3 --type ts x src'],
    ['grep *', 'grep -rn --include=x TODO src'],
    ['head *; tail *', 'head -20 a; tail -n +5 b'],
    ['find *; grep *; xargs *', 'find src -type f | xargs grep -l x'],
    ['wc *; git ls-files *', "wc -l $(git ls-files 'x')"],
    ['cat *; ls *', 'cat "$x/a"; ls $y'],
    ['make *', 'make test'],
    ['make -C sub *', 'make -C sub test'],
    ['make CC=*', 'make CC=gcc'],
    ['npm test --prefix *', 'npm test --prefix sub'],
    ['tar tf *', 'tar tf t.tar a'],
    ['docker run --rm *', 'docker run --rm x'],
    ['bash -c *; ls', "bash -c 'ls'"],
    ['sudo *; rm -rf build', 'sudo rm -rf build'],
    ['timeout *; npm test', 'timeout -k 5 60 npm test'],
    ['PWD=sub mkdir *; cd *', 'cd sub && mkdir x'],
    ['rm build/*', 'rm build/x'],
    ['* --version', 'node --version'],
    ['*', 'make -C evil'],
  ])('covers operands, and the options of everyday readers: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('run');
  });

  it.each([
    ['make *', 'make -C evil'],
    ['tar tf *', 'tar tf t.tar --index-file=package.json'],
    ['git branch *', 'git branch -D x'],
    ['sed *', 'sed -i s/a/b/ f'],
    ['wc *', 'wc --files0-from=a'],
    ['jq *', 'jq . "$x"'],
  ])('covers any words if the command runs in a transaction: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('ask');
    expect(outcome(allowed, { ...bash(command), transaction: true })).toBe('run');
    const through: PolicyRule = { decision: 'allow', command: allowed, write_through: true };
    const policy = createAnalyzingPolicy({ denylist: [], rules: [through] });
    expect(inShort(policy.decide({ ...bash(command), transaction: true }))).toBe('ask');
  });

  it('compares words with wildcards by the files that they match', () => {
    const files: Record<string, string[]> = {
      '.e[n]v': ['.env'],
      'src/*': ['src/a', 'src/-b'],
      'doc/*': ['doc/a'],
    };
    const inside = (command: string): PolicyQuestion => ({
      ...bash(command),
      expand: (pattern) => files[pattern] ?? [],
    });
    expect(outcome('cat *', inside('cat doc/*'))).toBe('run');
    expect(outcome('rg x *', inside('rg x doc/*'))).toBe('run');
    expect(outcome('rg x *', inside('cd src && rg x *'))).toBe('ask');
    expect(outcome('rm doc/*', inside('rm doc/*'))).toBe('run');
    const deny = createAnalyzingPolicy({
      denylist: [],
      rules: [
        { decision: 'allow', command: '*' },
        { decision: 'deny', command: 'cat .env' },
        { decision: 'deny', effect: 'delete', path: 'doc/a' },
      ],
    });
    expect(inShort(deny.decide(inside('cat .e[n]v')))).toBe('policy_denied');
    expect(inShort(deny.decide(inside('rm doc/*')))).toBe('policy_denied');
    expect(inShort(deny.decide(inside('rm src/*')))).toBe('run');
  });

  it.each([
    ['grep -r x src', 'src'],
    ['grep -r x', '.'],
    ['rg x', '.'],
    ['rg x src', 'src'],
    ['find src -exec cat {} +', 'src'],
    ['find . | xargs cat', '.'],
    ['cat $(find src)', 'src'],
    ['tar c src', 'src'],
    ['cp -r src /tmp/x', 'src'],
    ['diff -r src b', 'src'],
    ['cat src/*', 'src/*'],
  ])('asks before what a program reads by itself holds hidden files: %s', (command, below) => {
    const rules: PolicyRule[] = [
      { decision: 'allow', command: '*' },
      { decision: 'allow', effect: 'write', path: '**' },
    ];
    const asked: string[] = [];
    const inside = (hidden: string | undefined): PolicyQuestion => ({
      ...bash(command),
      expand: () => [],
      hiddenBelow: (path) => {
        asked.push(path);
        return path === below ? hidden : undefined;
      },
    });
    const policy = createAnalyzingPolicy({ denylist: [], mode: 'auto', rules });
    expect(inShort(policy.decide({ ...inside(undefined), requiresApproval: false }))).toBe('run');
    expect(asked).toContain(below);
    expect(inShort(policy.decide({ ...inside('.env'), requiresApproval: false }))).toBe('ask');
    expect(inShort(policy.decide({ ...inside('.env'), requiresApproval: false, transaction: true }))).toBe(
      'run',
    );
  });

  it.each(['ls -la src', 'find src -name x', 'cat a | rg x', 'tree src', 'rm -r src', 'git status'])(
    'asks nothing about a program that only looks at names, or reads its input: %s',
    (command) => {
      const policy = createAnalyzingPolicy({ denylist: [], rules: [{ decision: 'allow', command: '*' }] });
      const question: PolicyQuestion = {
        ...bash(command),
        hiddenBelow: (path) => (path === 'a' ? undefined : '.env'),
      };
      expect(inShort(policy.decide(question))).toBe('run');
    },
  );

  it.each([
    ['read *', 'declare -i n; read n <<< "a[$(id)]"'],
    ['read *', 'read SECONDS < file'],
    ['read *; printf *', "printf -v RANDOM '%s' 'a[$(id)]'"],
  ])('covers no arithmetic of a variable that is a number: %s / %s', (allowed, command) => {
    expect(outcome(allowed, command)).toBe('ask');
  });
});

describe('a rule that denies a command', () => {
  const decide = (rule: PolicyRule, command: string): string =>
    inShort(createAnalyzingPolicy({ denylist: [], rules: [rule] }).decide(bash(command)));

  it('finds it behind any assignment, and an assignment before any command', () => {
    expect(decide({ decision: 'deny', command: 'git push *' }, 'A=1 git push')).toBe('policy_denied');
    expect(decide({ decision: 'deny', command: 'GIT_DIR=*' }, 'GIT_DIR=x git log')).toBe('policy_denied');
    expect(decide({ decision: 'deny', command: 'GIT_DIR=* git push' }, 'GIT_DIR=x git push')).toBe(
      'policy_denied',
    );
    expect(decide({ decision: 'deny', command: 'GIT_DIR=* git push' }, 'git push')).toBe('ask');
    expect(decide({ decision: 'deny', command: 'PWD=vendor/* **' }, 'cd vendor/x && make')).toBe(
      'policy_denied',
    );
  });
});
