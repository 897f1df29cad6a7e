// Programs of a directory, in shell, Python and JavaScript, as tools of an executor.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinTools, createExecutor, discoverTools } from 'toolexec';

const directory = join(import.meta.dirname, 'external-tools');
const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
writeFileSync(join(root, 'people.csv'), 'name,age\nAda,36\n');
const approver = () => ({ kind: 'deny_all' as const });

try {
  // #region discover
  await using external = await discoverTools(directory, { trusted: [directory] });
  await using executor = createExecutor({ root, tools: [builtinTools(), external], approver });
  // #endregion discover
  for (const { name, status, errorMessage } of external.list()) {
    console.log(name, status, errorMessage ?? '');
  }

  const slug = await executor.execute('slug', { title: 'Größe & Maß' });
  assert.deepEqual(slug.structured, { slug: 'grosse-mass' });

  const space = await executor.execute('free-space', {});
  assert.equal(space.success, true);

  // A machine may be without Python: then the program has the status `error`, and hides no other.
  if (external.list().some(({ name, status }) => name === 'csv-columns' && status === 'ready')) {
    const columns = await executor.execute('csv-columns', { path: 'people.csv' });
    assert.deepEqual(columns.structured, {
      columns: [
        { name: 'name', first: 'Ada' },
        { name: 'age', first: '36' },
      ],
    });
    // The tool declares the file that it reads, so the sandbox refuses this one.
    const outside = await executor.execute('csv-columns', { path: '../secret.csv' });
    assert.equal(outside.error?.code, 'sandbox_violation');
  }

  const [metrics] = external.list().filter(({ name }) => name === 'slug');
  assert.equal(metrics?.metrics.successfulExecutions, 1);
} finally {
  rmSync(root, { recursive: true });
}
