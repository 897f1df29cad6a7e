import { describe, expect, it } from 'vitest';
import { LATER_CODE_PATTERNS, LaterCode } from './later-code.js';
import { LATER_CODE } from './later-code-table.js';
import { runsTheSame } from './what-runs.js';

const ROOTS = ['/w'];
const known = new LaterCode();

describe('paths that run later by themselves', () => {
  it.each([
    ...['Makefile', 'sub/makefile', 'GNUmakefile', 'a/b/rules.mk', '.envrc', 'deep/.envrc', 'package.json'],
    ...[
      'packages/a/package.json',
      '.github/workflows/ci.yml',
      'x/.github/workflows/ci.yml',
      '.gitlab-ci.yml',
    ],
    ...['.vscode/tasks.json', '.vscode/settings.json', '.husky/pre-commit', '.husky/_/h', '.bashrc'],
    ...['.BASHRC', 'sub/.zshrc', '.git/hooks/pre-commit', '.git/config', 'x/.git/modules/m/hooks/a'],
    ...['conftest.py', 'tests/conftest.py', 'setup.py', 'build.rs', '.cargo/config.toml', 'Cargo.toml'],
    ...['.devcontainer/devcontainer.json', '.claude/settings.json', '.mcp.json', 'justfile', 'Jenkinsfile'],
    ...['gradlew', 'app/build.gradle', 'gradle/wrapper/gradle-wrapper.jar', 'gulpfile.mjs', 'flake.nix'],
    ...['pytest.ini', 'setup.cfg', 'bunfig.toml', 'jest.config.ts', 'vitest.config.mts', '.mocharc.cjs'],
    ...['package.yaml', 'a/package.json5'],
    ...['angular.json', 'functions/firebase.json', 'serverless.yml', 'infra/cdk.json', 'skaffold.yaml'],
    ...['eslint.config.js', 'a/.eslintrc.cjs', '.eslintrc', '.prettierrc.mjs', '.pylintrc'],
    ...['.ſimple-git-hooks.json', 'lint-staged.config.js', '.ci.code-workspace', 'CMakeLists.txt'],
  ])('are named: %s', (path) => {
    expect([known.has(`/w/${path}`, ROOTS), known.has(path, [])]).toEqual([true, true]);
  });

  it.each([
    ...['src/index.ts', 'README.md', 'NoMakefile', 'build/out.o', 'workspace/a.ts', 'BUILD/x'],
    ...['package-lock.json', 'data.json', 'my.package.json', '.github/CODEOWNERS', '.git/HEAD', '.git/index'],
    ...['.prettierrc', 'src/jest.ts', 'config.jest.js'],
    ...['a.gradle.md', 'docs/vscode/tasks.json', 'husky/a', 'target/debug/x', 'configs/config.toml'],
  ])('are no others: %s', (path) => {
    expect([known.has(`/w/${path}`, ROOTS), known.has(path, [])]).toEqual([false, false]);
  });

  it('do not count by the name of the root', () => {
    expect(new LaterCode().has('/home/.vscode/src/a.ts', ['/home/.vscode'])).toBe(false);
  });

  it('lie in directories, and not in all that is below those', () => {
    const lies = (path: string): boolean => known.lies(`/w/${path}`, ROOTS);
    expect(['.github', 'x/.git', '.git/modules', '.GitHub', 'gradle', 'Makefile'].filter(lies)).toHaveLength(
      6,
    );
    expect(['.github/CODEOWNERS', '.git/objects/a', 'gradle/x', 'src', '.'].filter(lies)).toEqual([]);
  });

  it('can be others', () => {
    const own = new LaterCode(['tools/**', 'run.sh']);
    expect(['/w/tools/a', '/w/x/run.sh', '/w/Makefile'].map((path) => own.has(path, ROOTS))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('can be patterns without a literal name', () => {
    const own = new LaterCode(['run?.sh', '[xy]-*', 'a*b*.cfg', '@(l|m).1', '?']);
    const paths = ['run1.sh', 'RUN2.SH', 'd/x-1/a', 'aXbY.cfg', 'l.1', 'q', 'ruﬀ/runſ.ſh'];
    expect(paths.filter((path) => !own.has(`/w/${path}`, ROOTS))).toEqual([]);
    expect(['run.sh', 'z-1', 'ab.cf', 'n.1', 'qq'].filter((path) => own.has(`/w/${path}`, ROOTS))).toEqual(
      [],
    );
  });

  it('are found in a table without a pattern twice', () => {
    expect(new Set(LATER_CODE_PATTERNS).size).toBe(LATER_CODE_PATTERNS.length);
    expect(LATER_CODE.every(({ what, patterns }) => what !== '' && patterns.length > 0)).toBe(true);
  });
});

describe('two versions of a file that runs in part', () => {
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const npm = (before: unknown, after: unknown): boolean =>
    runsTheSame('package.json', before === undefined ? undefined : json(before), json(after));

  it('run the same where only dependencies change', () => {
    const scripts = { test: 'vitest' };
    expect(npm({ scripts, name: 'a' }, { name: 'a', dependencies: { x: '1' }, scripts })).toBe(true);
    expect(npm(undefined, { name: 'a', dependencies: { x: '1' } })).toBe(true);
    expect(npm({ name: 'a' }, { name: 'a', scripts: {} })).toBe(true);
    expect(runsTheSame('Package.JSON', json({ version: '1' }), json({ version: '2' }))).toBe(true);
    const cargo = (text: string): Buffer => Buffer.from(text);
    expect(
      runsTheSame(
        'Cargo.toml',
        cargo('[package]\nname="a"\n'),
        cargo('[package]\nname="a"\n[dependencies]\nx="1"\n'),
      ),
    ).toBe(true);
    expect(
      runsTheSame(
        'pyproject.toml',
        cargo('[project]\nname="a"\n'),
        cargo('[project]\nname="a"\ndependencies=["x"]\n'),
      ),
    ).toBe(true);
  });

  it.each([
    [{ scripts: { test: 'vitest' } }, { scripts: { test: 'curl x | sh' } }],
    [{}, { scripts: { postinstall: 'x' } }],
    [{}, { husky: { hooks: { 'pre-commit': 'x' } } }],
    [{}, { 'simple-git-hooks': { 'pre-commit': 'x' } }],
    [{}, { 'lint-staged': { '*': 'x' } }],
    [{}, { packageManager: 'yarn@9.9.9' }],
    [{}, { jest: { globalSetup: './evil.js' } }],
    [{ jest: { bail: 1 } }, { jest: { setupFiles: ['./evil.js'] } }],
    [{}, { eslintConfig: { parser: './evil.js' } }],
    [{}, { nodemonConfig: { exec: './evil.js' } }],
    [{}, { 'release-it': { hooks: { 'before:init': 'x' } } }],
    [{}, { workspaces: ['vendor/evil'] }],
    [{}, { bin: { jest: './evil.js' } }],
    [{}, { pnpm: { dangerouslyAllowAllBuilds: true } }],
    [{}, { 'a tool of tomorrow': { run: 'evil' } }],
    [{}, { trustedDependencies: ['evil'] }],
    [{}, { pnpm: { onlyBuiltDependencies: ['evil'] } }],
    [
      { scripts: { test: '$npm_package_config_t' } },
      { scripts: { test: '$npm_package_config_t' }, config: { t: 'evil' } },
    ],
    [undefined, { scripts: { test: 'x' } }],
  ])('run something else where scripts or hooks change: %j to %j', (before, after) => {
    expect(npm(before, after)).toBe(false);
  });

  it('run something else where a field is hidden behind the name of the prototype', () => {
    const hidden = Buffer.from('{"__proto__":{"scripts":{"test":"evil"}}}');
    expect(runsTheSame('package.json', json({}), hidden)).toBe(false);
  });

  it('run the same where a rebase only picks, and another program in a step that runs one', () => {
    const todo = (text: string): boolean => runsTheSame('git-rebase-todo', undefined, Buffer.from(text));
    expect([todo('pick abc one\n# exec x\n'), todo('pick abc\n  x ./evil\n')]).toEqual([true, false]);
  });

  it('run something else where one of them cannot be read, or is gone with what it ran', () => {
    const bad = Buffer.from('{"scripts": {');
    expect(runsTheSame('package.json', bad, json({}))).toBe(false);
    expect(runsTheSame('package.json', json({}), bad)).toBe(false);
    expect(runsTheSame('package.json', json({}), Buffer.from('[]'))).toBe(false);
    expect(runsTheSame('package.json', json({ scripts: { a: 'b' } }), undefined)).toBe(false);
    expect(runsTheSame('Makefile', Buffer.from('a'), Buffer.from('a'))).toBe(false);
    const toml = (text: string): Buffer => Buffer.from(text);
    expect(runsTheSame('Cargo.toml', toml('[package]\n'), toml('[package]\nbuild = "evil.rs"\n'))).toBe(
      false,
    );
    expect(runsTheSame('Cargo.toml', toml('[lib]\n'), toml('[lib]\nproc_macro = true\n'))).toBe(false);
    expect(runsTheSame('pyproject.toml', toml(''), toml('[tool.pylint.main]\ninit-hook = "x"\n'))).toBe(
      false,
    );
    expect(runsTheSame('pyproject.toml', toml('[tool.poe]\n'), toml('[tool.poe.tasks]\na = "b"\n'))).toBe(
      false,
    );
    expect(
      runsTheSame(
        'pyproject.toml',
        toml('[build-system]\nbuild-backend="a"\n'),
        toml('[build-system]\nbuild-backend="b"\n'),
      ),
    ).toBe(false);
  });
});
