import { describe, expect, it } from 'vitest';
import { letsWorkspaceCodeRun, runsWorkspaceCode } from './workspace-code.js';

describe('commands', () => {
  it.each([
    ...['make', 'make -j4 all', '/usr/bin/make', 'npm test', 'npm --silent run build', 'npm i', 'pnpm lint'],
    ...['yarn', 'npx tsc', 'pytest -q', 'cargo run', 'cargo +nightly test', 'go test ./...', './script'],
    ...[
      'scripts/x.sh a',
      '/work/project/x',
      'python3 x.py',
      'python3.12 -m pytest',
      'node x.js',
      'node -e 1',
    ],
    ...['bash x.sh', '. env.sh', 'git bisect run make', 'pip3 install .'],
  ])("run the workspace's code: %s", (command) => {
    expect(runsWorkspaceCode(command.split(' '))).toBe(true);
  });

  it.each([
    ...[
      'ls -la',
      'git status',
      'npm view react',
      'npm --version',
      'make --version',
      'cargo fmt',
      'go build',
      'touch make',
    ],
    ...['/usr/bin/tar tf x', 'python3 -V', 'tsc --noEmit', ''],
  ])('do not run it: %s', (command) => {
    expect(runsWorkspaceCode(command.split(' '))).toBe(false);
  });
});

describe('patterns of rules', () => {
  it.each([
    ...[
      'make *',
      'make',
      'npm *',
      'npm run test:*',
      'npm t*',
      'python3 *',
      'python* x',
      '*',
      '**',
      '* --help',
    ],
    ...['CI=* npm test', 'PWD=packages/* make *', './x', 'scripts/*', '"make" *', 'm* all', '/usr/bin/* x'],
    'cargo **',
  ])('let it run: %s', (pattern) => {
    expect(letsWorkspaceCodeRun(pattern)).toBe(true);
  });

  it.each([
    'git status *',
    'ls *',
    'npm view *',
    'npm',
    'CI=*',
    'cargo fmt *',
    'tar tf *',
    'git push *',
    'go build *',
  ])('do not let it run: %s', (pattern) => {
    expect(letsWorkspaceCodeRun(pattern)).toBe(false);
  });
});
