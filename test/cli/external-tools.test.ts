import { chmodSync, cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { servingScript } from '../../src/external/fixtures/serving-program.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { addProgram } from '../transactions/tool-workshop.js';
import { message, useToolexec } from './toolexec.js';

const SERVED = { input_schema: { type: 'object' }, output_schema: {}, effects: [] };
const EXAMPLES = join(import.meta.dirname, '../../examples/external-tools');

const toolexec = useToolexec();
let tools: string;
beforeEach(() => {
  tools = join(toolexec.folder, 'tools');
  cpSync(EXAMPLES, tools, { recursive: true });
  // Independent of the umask of the checkout.
  for (const path of ['', 'free-space', 'slug.mjs', 'csv-columns.py']) chmodSync(join(tools, path), 0o755);
});

const configure = (more = ''): string =>
  toolexec.write(
    'c.toml',
    `[tools.external]\ndirectories = ["tools"]\ntrusted_directories = ["tools"]\n${more}`,
  );

describe('programs that the configuration names', () => {
  it('are called like every tool, without approval if a trusted one declares that it changes nothing', async () => {
    const { code, stdout, stderr } = await toolexec.run([
      'call',
      'slug',
      '{"title":"Größe"}',
      ...['--config', configure(), '--json'],
    ]);
    expect([code, stderr.includes('approval')]).toEqual([0, false]);
    expect(JSON.parse(stdout)).toMatchObject([{ tool_name: 'slug', structured: { slug: 'grosse' } }]);
  });

  it('need approval if no directory is trusted, or if tools may write to it', {
    tags: ['soak'],
  }, async () => {
    const config = toolexec.write('c.toml', '[tools.external]\ndirectories = ["tools"]\n');
    const untrusted = await toolexec.run(['call', 'slug', '{"title":"x"}', '--config', config]);
    expect(untrusted.code).toBe(3);
    const inRoot = await toolexec.run([
      'call',
      'slug',
      '{"title":"x"}',
      '--config',
      configure(),
      '--root',
      tools,
    ]);
    expect(inRoot.code).toBe(3);
  });

  it('are in the lists and schemas; one that cannot be started is reported, and hides no other', async () => {
    toolexec.write('tools/broken', '#!/nonexistent/interpreter\n');
    chmodSync(join(tools, 'broken'), 0o755);
    const config = configure();
    const list = await toolexec.run(['tools', 'list', '--config', config]);
    expect([list.code, list.stdout]).toEqual([0, expect.stringMatching(/^slug +external +\S/m)]);
    expect(list.stderr).toMatch(/^toolexec: broken \(.*\) is error: .*ENOENT/m);
    const json = JSON.parse((await toolexec.run(['tools', 'list', '--config', config, '--json'])).stdout);
    expect(json).toContainEqual(
      expect.objectContaining({ name: 'slug', status: 'ready', version: '1.0.0', trusted: true }),
    );
    expect(json).toContainEqual(expect.objectContaining({ name: 'broken', status: 'error' }));
    const shown = await toolexec.run(['tools', 'show', 'slug', '--config', config]);
    expect(shown.stdout).toContain('title');
    const schemas = await toolexec.run(['tools', 'schema', '--for', 'anthropic', '--config', config]);
    expect(schemas.stdout).toContain('"slug"');
  });
});

describe('settings of single programs', () => {
  it('apply: versions, timeouts, and the number of failures before a program is suspended', {
    tags: ['soak'],
  }, async () => {
    toolexec.write(
      'tools/slow',
      `#!/bin/sh\n[ "$1" = --schema ] || exec sleep 60\necho '{"effects":[],"input_schema":{},"output_schema":{}}'\n`,
    );
    chmodSync(join(tools, 'slow'), 0o755);
    const config = configure(
      'max_concurrent = 1\n[tools.external.versions]\nslug = "^2"\n[tools.external.timeouts]\nslow = 0.2\n' +
        '[tools.external.breaker]\nthreshold = 1\n',
    );
    const slug = await toolexec.run(['call', 'slug', '{"title":"x"}', '--config', config]);
    expect([slug.code, slug.stderr]).toEqual([1, expect.stringContaining('slug')]);
    const list = await toolexec.run(['tools', 'list', '--config', config]);
    expect(list.stderr).toContain('its version "1.0.0" is not within "^2"');
    const twice = toolexec.json('twice.json', [
      { id: '1', name: 'slow', args: {} },
      { id: '2', name: 'slow', args: {} },
    ]);
    const { stdout } = await toolexec.run(['run', twice, '--config', config]);
    expect(JSON.parse(stdout)).toMatchObject([
      { error: { code: 'timeout' } },
      { error: { code: 'circuit_open' } },
    ]);
    const quick = await toolexec.run([
      'call',
      'slow',
      '{}',
      '--config',
      config,
      '--timeout',
      '0.1',
      '--json',
    ]);
    expect(JSON.parse(quick.stdout)).toMatchObject([{ error: { message: 'slow timed out after 100ms' } }]);
    const wrong = await toolexec.run(['call', 'slow', '{}', '--config', config, '--timeout', 'soon']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--timeout "soon"')]);
  });
});

describe('settings of programs that serve', () => {
  it.each([
    ['processes = 1', { warm: true }],
    ['processes = 0', { exit_code: 0 }],
  ])('decide whether one process answers many calls: %s', async (line, metadata) => {
    toolexec.write('tools/served', servingScript(`answer '"warm"'`, undefined, SERVED));
    chmodSync(join(tools, 'served'), 0o755);
    const config = configure(`[tools.external.warm]\n${line}\n`);
    const { stdout } = await toolexec.run(['call', 'served', '{}', '--config', config, '--json']);
    expect(JSON.parse(stdout)).toMatchObject([{ success: true, metadata }]);
  });
});

describe('toolexec tools approve', () => {
  it('lets a changed program run as before', { tags: ['soak'] }, async () => {
    const described = (text: string): void => {
      toolexec.write(
        'tools/mine',
        `#!/bin/sh\n[ "$1" = --schema ] || { echo 1; exit; }\n` +
          `echo '{"description":"${text}","read_only":true,"input_schema":{},"output_schema":{}}'\n`,
      );
      chmodSync(join(tools, 'mine'), 0o755);
    };
    const config = configure();
    const run = (...words: readonly string[]) => toolexec.run([...words, '--config', config]);
    described('As it was.');
    expect((await run('call', 'mine', '{}')).code).toBe(0);
    described('Something else.');
    expect((await run('call', 'mine', '{}')).code).toBe(3);
    expect((await run('tools', 'list')).stderr).toContain('then: toolexec tools approve mine');
    const approved = await run('tools', 'approve', 'mine');
    expect([approved.code, approved.stdout]).toEqual([
      0,
      expect.stringContaining('its description is approved'),
    ]);
    expect((await run('call', 'mine', '{}')).code).toBe(0);
    expect((await run('tools', 'list')).stderr).toBe('');
    expect((await run('tools', 'approve', 'mine')).stdout).toContain('nothing about it has changed');
    described('A third text.');
    expect(JSON.parse((await run('tools', 'approve', '--all', '--json')).stdout)).toMatchObject([
      { name: 'mine', approved: ['description'] },
    ]);
    const unknown = await run('tools', 'approve', 'mines');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Did you mean mine?')]);
    expect((await run('tools', 'approve')).code).toBe(2);
  });
});

describe('toolexec tools list --metrics', () => {
  it('counts the calls of the journal by tool', { tags: ['soak'] }, async () => {
    const options = ['--config', configure()];
    await toolexec.run(['call', 'slug', '{"title":"x"}', ...options]);
    toolexec.write(
      'tools/fails',
      `#!/bin/sh\n[ "$1" = --schema ] || exit 4\necho '{"effects":[],"input_schema":{},"output_schema":{}}'\n`,
    );
    chmodSync(join(tools, 'fails'), 0o755);
    await toolexec.run(['call', 'fails', '{}', ...options]);
    const { code, stdout } = await toolexec.run(['tools', 'list', '--metrics', ...options]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^slug +1 +1 +0 +\d+ ms /m)]);
    expect(stdout).toMatch(/^fails +1 +0 +1 .*execution_failed 1$/m);
    await toolexec.run(['call', 'read_file', '{"path":"nope"}', ...options]);
    await toolexec.run(['call', 'write_file', '{"path":"a","content":""}', '--deny', ...options]);
    const json = JSON.parse(
      (await toolexec.run(['tools', 'list', '--metrics', '--json', ...options])).stdout,
    );
    expect(json).toMatchObject([
      { name: 'fails', metrics: { failedExecutions: 1 } },
      { name: 'read_file', metrics: { totalExecutions: 1, failures: { execution_failed: 1 } } },
      { name: 'slug', metrics: { totalExecutions: 1, percentilesMs: { p50: expect.any(Number) } } },
    ]);
  });
});

describe('toolexec tools scan, init and check', () => {
  it('scan a directory', async () => {
    const { code, stdout } = await toolexec.run(['tools', 'scan', tools]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^slug +ready +1\.0\.0 +Turns a title/m)]);
    toolexec.write('tools/silent', '#!/bin/sh\n:\n');
    chmodSync(join(tools, 'silent'), 0o755);
    const scanned = await toolexec.run(['tools', 'scan', tools, '--json']);
    expect(scanned.code).toBe(1);
    expect(JSON.parse(scanned.stdout)).toContainEqual(
      expect.objectContaining({ name: 'silent', status: 'schema-unknown' }),
    );
    const none = await toolexec.run(['tools', 'scan', join(tools, 'slug.mjs')]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('is not a directory')]);
  });

  it('write a working tool, and overwrite none', async () => {
    const place = join(toolexec.folder, 'mine');
    const made = await toolexec.run(['tools', 'init', place, '--lang', 'sh']);
    expect([made.code, made.stdout]).toEqual([0, 'greet\ngreet.test.sh\n']);
    const checked = await toolexec.run(['tools', 'check', join(place, 'greet')]);
    expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/^verdict: (?:good|usable)$/m)]);
    const again = await toolexec.run(['tools', 'init', place, '--lang', 'sh']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('it is there already')]);
  });

  it('report a broken tool', async () => {
    toolexec.write('bad/bad', '#!/bin/sh\necho nonsense\n');
    chmodSync(join(toolexec.folder, 'bad/bad'), 0o755);
    const { code, stdout } = await toolexec.run([
      'tools',
      'check',
      join(toolexec.folder, 'bad/bad'),
      '--json',
    ]);
    expect([code, JSON.parse(stdout).verdict]).toEqual([1, 'broken']);
  });
});

const WHY_NOT = await whyNoTransactions();

describe.skipIf(WHY_NOT !== '')(`programs in the sandbox${WHY_NOT}`, () => {
  it('are previewed, change the allowed files when they have ended, and are undone', async () => {
    toolexec.write('root/old', 'before\n');
    const at = (name: string): string => join(toolexec.root, name);
    const old = (): string => readFileSync(at('old'), 'utf8');
    addProgram(join(tools, 'change'), 'echo after >old; mkdir d; echo x >d/x; echo true');
    const config = configure('[tools.sandbox]\nexternal_tools = "all"\n');
    const file = toolexec.json('r.json', message(['change', {}], ['bash', { command: 'cat old' }]));
    const toolexecWith = (...words: string[]) => toolexec.run([...words, '--config', config]);
    const planned = JSON.parse((await toolexecWith('plan', file, '--preview', '--json')).stdout);
    expect(planned).toMatchObject({ changes: { created: ['d/', 'd/x'], modified: ['old'] } });
    expect([old(), existsSync(at('d'))]).toEqual(['before\n', false]);
    const run = await toolexecWith('run', file, '--yes');
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('after') });
    expect([old(), readFileSync(at('d/x'), 'utf8')]).toEqual(['after\n', 'x\n']);
    expect((await toolexecWith('undo', 'toolu_1')).code).toBe(0);
    expect([old(), existsSync(at('d'))]).toEqual(['before\n', false]);
  });

  it('change nothing if a part of their changes is refused', async () => {
    toolexec.write('root/old', 'before\n');
    addProgram(join(tools, 'change'), 'echo after >old; echo x >.env; echo true');
    const config = configure('[tools.sandbox]\nexternal_tools = "all"\n');
    const { code, stdout } = await toolexec.run([
      'call',
      'change',
      '{}',
      '--yes',
      '--config',
      config,
      '--json',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        success: false,
        error: { code: 'sandbox_violation' },
        metadata: { changes: { created: [], modified: [], refused: [{ path: '.env' }] } },
      },
    ]);
    expect(readFileSync(join(toolexec.root, 'old'), 'utf8')).toBe('before\n');
    expect(existsSync(join(toolexec.root, '.env'))).toBe(false);
  });
});
