import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres, whyNoPostgres } from '../src/journal/postgres/fixtures/postgres-cluster.js';

const FOLDER = join(import.meta.dirname, '..', 'examples', 'fleet');
const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8');

it('the compose file of the fleet has three services, whose programs are there', () => {
  expect(text).not.toContain('\t');
  const services = [...text.matchAll(/^ {2}(\w+):\n {4}(.+)$/gm)].map(([, name, start]) => [name, start]);
  expect(services.slice(-3)).toEqual([
    ['postgres', 'image: postgres:17'],
    ['host', '<<: *program'],
    ['worker', '<<: *program'],
  ]);
  const programs = [...text.matchAll(/command: \["node", "(\S+?)"\]/g)].map(([, name]) => name ?? '');
  expect(programs).toEqual(['host.mjs', 'worker.mjs']);
  for (const name of programs) expect(existsSync(join(FOLDER, 'compose', name))).toBe(true);
  // The image is made from this checkout.
  const [, context = '', dockerfile = ''] = /context: (\S+)\n\s+dockerfile: (\S+)/.exec(text) ?? [];
  const checkout = join(FOLDER, context);
  const image = readFileSync(join(checkout, dockerfile), 'utf8');
  for (const [, files = ''] of image.matchAll(/^COPY ((?:\S+ )+)\.\/?$/gm))
    for (const file of files.trim().split(' '))
      expect(existsSync(join(checkout, file.replace('*.mjs', ''))), file).toBe(true);
  // Both reach the database of the first service.
  const [, password, database] = /POSTGRES_PASSWORD: (\w+)\n\s+POSTGRES_DB: (\w+)/.exec(text) ?? [];
  expect(text).toContain(`DATABASE_URL: postgres://postgres:${password}@postgres/${database}\n`);
});

it.skipIf(whyNoPostgres() !== undefined)(
  'its programs run calls over a server, and end when they are told to',
  { tags: ['soak'], timeout: 180_000 },
  async () => {
    const cluster = await startPostgres();
    onTestFinished(() => cluster.end());
    const start = (name: string) => {
      const child = spawn(process.execPath, [join(FOLDER, 'compose', name)], {
        env: { ...process.env, DATABASE_URL: cluster.url() },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk;
      });
      return { child, said: () => said, ended: once(child, 'exit') };
    };
    const [worker, host] = [start('worker.mjs'), start('host.mjs')];
    await expect.poll(host.said).toContain('web-2 is live');
    host.child.kill('SIGTERM');
    expect(await host.ended).toEqual([0, null]);
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toEqual([0, null]);
  },
);
