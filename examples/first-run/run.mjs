// The first thing to run after a clone: a model's response goes in, the next request's tool results come out.
//   npm run example
// Everything the command prints is shown as it is; what must hold of it is checked. Exit code 0: it held.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const here = import.meta.dirname;
const main = join(here, '..', '..', 'dist', 'command', 'toolexec.cjs');
const args = [
  'run',
  join(here, 'response.json'),
  '--root',
  join(here, 'workspace'),
  '--config',
  join(here, 'toolexec.toml'),
  '--yes',
];

if (!existsSync(main)) {
  console.error(
    `Cannot find ${relative('.', main)}: build it first with "npm run build", or use "npm run example".`,
  );
  process.exit(1);
}

// A journal of its own, so that every run is a first one.
const state = mkdtempSync(join(tmpdir(), 'toolexec-first-run-'));
try {
  console.log(
    'toolexec: a model asks for four tools. One of its files does not exist, and the answer says so.\n',
  );
  console.log(`$ toolexec ${args.map((arg) => (arg.startsWith(here) ? relative('.', arg) : arg)).join(' ')}`);
  const { status, stdout, error } = spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_STATE_HOME: state },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 60_000,
  });
  if (error !== undefined) throw error;
  console.log(JSON.stringify(JSON.parse(stdout), null, 2));
  check(status, JSON.parse(stdout));
  console.log(
    '\nAll four calls are answered, in order: three succeeded, one failed truthfully (exit code 1).',
  );
} catch (error) {
  console.error(`\nThe example did not hold: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  rmSync(state, { recursive: true, force: true });
}

/**
 * @param {number | null} status the command's exit code
 * @param {{ role: string, content: { type: string, tool_use_id: string, content: string, is_error?: boolean }[] }} message
 */
function check(status, message) {
  assert.equal(status, 1, `exit code 1 was expected (one call fails), not ${status}`);
  assert.equal(message.role, 'user');
  assert.deepEqual(
    message.content.map(({ type, tool_use_id, is_error }) => [type, tool_use_id, is_error === true]),
    [
      ['tool_result', 'toolu_01', false],
      ['tool_result', 'toolu_02', false],
      ['tool_result', 'toolu_03', false],
      ['tool_result', 'toolu_04', true],
    ],
  );
  const [log, listing, count, missing] = message.content.map(({ content }) => content);
  assert.match(log ?? '', /out of stock/);
  assert.deepEqual(
    JSON.parse(listing ?? '').entries.map((/** @type {{ path: string }} */ { path }) => path),
    ['README.md', 'logs', 'logs/import.log', 'orders.csv'],
  );
  assert.equal(count?.trim(), 'orders: 5');
  assert.match(missing ?? '', /^Error: /);
}
