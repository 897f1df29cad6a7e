import { execFileSync } from 'node:child_process';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../src/contract/approval.js';
import type { ToolResult } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { useKeptApart, whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const here = useKeptApart();
const KEY = '-----BEGIN PRIVATE KEY-----';

const hasVenv = works('/usr/bin/python3', ['-c', 'import venv, ensurepip']);
const hasNpm = works('/usr/bin/npm', ['--version']);

function works(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function refusedOf(command: string): Promise<readonly string[]> {
  const { exitCode, stderr, changes } = await here.run(command);
  if (exitCode !== 0) throw new Error(stderr.head + stderr.tail);
  return changes?.refused.map(({ path, reason }) => `${path}: ${reason}`) ?? ['nothing was looked at'];
}

describe.skipIf(WHY_NOT !== '')(`denied names in dependency folders${WHY_NOT}`, () => {
  it.skipIf(!hasNpm)('are kept, seen by later commands, replaced and removed: npm install', async () => {
    here.outside(
      `mkdir -p lib/test lib/.vscode; echo '{"name":"lib","version":"1.0.0"}' >lib/package.json; echo '${KEY}' >lib/test/server.key; echo A=1 >lib/.env.test; echo '{}' >lib/.vscode/settings.json; mv lib ..; ` +
        `echo '{"name":"app","version":"1.0.0"}' >package.json`,
    );
    // A package that is copied, as if from a registry.
    here.outside('cd .. && tar czf root/lib.tgz --transform s/^lib/package/ lib');
    const npm = 'npm_config_cache=/tmp/npm npm --offline --no-audit --no-fund --loglevel=error';
    expect(await refusedOf(`${npm} install ./lib.tgz`)).toEqual([]);
    expect(here.outside('cat node_modules/lib/test/server.key node_modules/lib/.env.test')).toBe(
      `${KEY}\nA=1\n`,
    );
    const { stdout } = await here.run('cat node_modules/lib/test/server.key');
    expect(stdout.head).toBe(`${KEY}\n`);
    expect(await refusedOf(`echo new >node_modules/lib/test/server.key; ${npm} ci`)).toEqual([]);
    expect(here.outside('cat node_modules/lib/test/server.key')).toBe(`${KEY}\n`);
    expect(await refusedOf('rm -rf node_modules')).toEqual([]);
    expect(here.outside('ls')).toBe('lib.tgz\npackage-lock.json\npackage.json\n');
  });

  it.skipIf(!hasVenv)('are kept: python3 -m venv', { tags: ['soak'] }, async () => {
    expect(await refusedOf('/usr/bin/python3 -m venv .venv')).toEqual([]);
    expect(here.outside('find .venv -name "*.pem" | wc -l').trim()).not.toBe('0');
    expect(await refusedOf('.venv/bin/python -c "import pip"; rm -rf .venv')).toEqual([]);
  });

  it('are kept: vendored modules, build output, files of other programs', async () => {
    expect(
      await refusedOf(
        'mkdir -p vendor/x/testdata target/debug a/site-packages/certifi; echo k >vendor/x/testdata/key.pem; echo k >target/debug/.env; echo k >a/site-packages/certifi/cacert.pem',
      ),
    ).toEqual([]);
    here.outside('echo host >vendor/host.pem');
    expect((await here.run('cat vendor/*.pem')).stdout.head).toBe('host\n');
    expect(await refusedOf('rm -r vendor a target')).toEqual([]);
  });

  it('are still refused elsewhere, and the reason says how to keep them', async () => {
    here.outside('mkdir -p src/keys; echo k >src/keys/a.txt');
    expect(await refusedOf('cp -r src copy; echo k >copy/keys/b.pem; echo x >.envrc')).toEqual([
      '.envrc: the deny pattern **/.envrc covers it',
      'copy/keys/b.pem: the deny pattern **/*.pem covers it; a new file of that name is kept when a person approves a command that names it',
    ]);
  });
});

/** The refused changes of a command, from its result. */
function refusedIn(result: ToolResult | undefined): unknown {
  const changes = result?.metadata.changes;
  return typeof changes === 'object' && changes !== null && 'refused' in changes
    ? changes.refused
    : undefined;
}

const place = usePlace();
let asked: ApprovalRequest[];
let decision: ApprovalDecision;
beforeEach(() => {
  asked = [];
  decision = { kind: 'approve_all' };
});

function open(approval: 'before' | 'after', more: Partial<ExecutorOptions> = {}): Executor {
  return createExecutor({
    root: place.root,
    tools: builtinTools({ bash: { approval } }),
    journal: place.journal,
    approver: (requests) => {
      asked.push(...requests);
      return decision;
    },
    sandbox: { os: 'required' },
    ...more,
  });
}

async function bash(executor: Executor, command: string): Promise<ToolResult | undefined> {
  const [result] = await executor.run([{ id: `c${asked.length}`, name: 'bash', args: { command } }]);
  return result;
}

describe.skipIf(WHY_NOT !== '')(`new files with a denied name${WHY_NOT}`, () => {
  it('are kept if a person approved a command that names them, and hidden from then on', {
    tags: ['soak'],
  }, async () => {
    await using executor = open('before');
    place.outside('echo A= >.env.example');
    for (const command of [
      'cp .env.example .env',
      'openssl genrsa -out key.pem 2048 2>/dev/null',
      'openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout tls.key -out tls.pem 2>/dev/null',
    ]) {
      const result = await bash(executor, command);
      expect([command, result?.success, refusedIn(result)]).toEqual([command, true, []]);
    }
    expect(asked).toHaveLength(3);
    expect(place.outside('ls -A')).toBe('.env\n.env.example\nkey.pem\ntls.key\ntls.pem\n');
    expect((await bash(executor, 'ls -A; cat .env || true'))?.output).toMatch(
      /^\.env\.example\n[\s\S]*No such file/,
    );
    await bash(executor, 'echo B= >.env');
    expect(place.outside('cat .env')).toBe('A=\n');
  });

  it('bug: were left there by an undo', async () => {
    await using executor = open('before');
    place.outside('echo A= >.env.example');
    const result = await bash(executor, 'cp .env.example .env');
    expect([result?.success, place.outside('ls -A')]).toEqual([true, '.env\n.env.example\n']);
    const { skipped } = await executor.undo(result?.callId ?? '');
    expect([skipped, place.outside('ls -A')]).toEqual([[], '.env.example\n']);
  });

  it('are not kept if the command does not name them, or if only an option approved it', async () => {
    await using executor = open('before');
    place.outside("echo 'echo k >made.pem' >make.sh");
    await bash(executor, 'sh make.sh');
    decision = { kind: 'approve_all', by: '--yes' };
    await bash(executor, 'echo k >named.pem');
    expect(place.outside('ls -A')).toBe('make.sh\n');
  });

  it('are kept if a person saw them after the command', { tags: ['soak'] }, async () => {
    await using executor = open('after');
    place.outside("echo 'echo k >made.pem' >make.sh");
    const result = await bash(executor, 'sh make.sh');
    expect(asked[0]?.changes?.created).toEqual(['made.pem']);
    expect(refusedIn(result)).toEqual([]);
    decision = { kind: 'approve_all', by: '--yes' };
    await bash(executor, 'echo k >other.pem');
    expect(place.outside('ls -A')).toBe('made.pem\nmake.sh\n');
  });

  it('are not kept without a question to a person', async () => {
    await using executor = open('before', { approver: null });
    await bash(executor, 'echo k >named.pem; echo x >y');
    await using later = open('after', { approver: null });
    await bash(later, 'echo k >named.pem; echo x >z');
    expect(place.outside('ls -A')).not.toContain('named.pem');
  });
});
