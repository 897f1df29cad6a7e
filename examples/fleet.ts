// Two workers over one SQLite journal run the calls of this process. One of them is killed in the middle.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecutor } from 'toolexec';
import { deploy } from './fleet/worker.js';

const place = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const [root, journal] = [place, join(place, 'journal.db')];

async function startWorker(): Promise<ChildProcess> {
  const program = join(import.meta.dirname, 'fleet', 'worker.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, root, journal], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

const call = (service: string) => ({ id: service, name: 'deploy', args: { service } });
const deployed = (): string[] =>
  existsSync(join(root, 'deployed')) ? readFileSync(join(root, 'deployed'), 'utf8').trim().split('\n') : [];

{
  // #region host
  await using host = createExecutor({
    journal,
    root,
    tools: [deploy],
    approver: null,
    fleet: { run: 'anywhere', startDeadlineMs: 60_000 },
  });
  // #endregion host
  const first = await startWorker();
  const running = host.run([call('slow')], { conversation: 'release-1' });
  for (let waited = 0; !deployed().includes('slow'); waited += 20) {
    assert.ok(waited < 20_000, 'the first worker takes the call');
    await new Promise((done) => setTimeout(done, 20));
  }
  const second = await startWorker();
  first.kill('SIGKILL');
  const [slow] = await running;
  // Whether it took effect is not known, so it is not run again.
  assert.equal(slow?.error?.code, 'outcome_unknown');
  const [web, api] = await host.run([call('web'), call('api')], { conversation: 'release-1' });
  assert.deepEqual([web?.output, api?.output], ['web is live', 'api is live']);
  // Sent again, the call gets the answer that it has.
  writeFileSync(join(root, 'go'), '');
  const [again] = await host.run([call('slow')], { conversation: 'release-1' });
  assert.equal(again?.error?.code, 'outcome_unknown');
  assert.deepEqual(deployed().sort(), ['api', 'slow', 'web']);
  second.kill('SIGTERM');
  await once(second, 'exit');
}
rmSync(place, { recursive: true });
