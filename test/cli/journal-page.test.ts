import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/index.js';
import { useHostileJournal } from './hostile-journal.js';

const { toolexec, journal } = useHostileJournal();

/** The text of a page as a person reads it. */
const words = (page: string): string =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('toolexec journal show --html', () => {
  it('writes all calls, questions and changes as one page, which only its owner can read', async () => {
    const path = join(toolexec.folder, 'page.html');
    const { code, stdout, stderr } = await journal('show', 'work', '--html', path);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^toolexec: wrote ".*page\.html" \(\d+ KB\)\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const page = readFileSync(path, 'utf8');
    expect(page).toMatch(/^<!doctype html>\n/);
    const text = words(page);
    expect(text).toContain('Conversation work');
    expect(text).toMatch(
      /Went wrong \(3\).*execution_failed: say failed: It broke &lt;here&gt;\..*user_denied: .*Not on a Friday\./,
    );
    expect(text).toContain('Not asked, by rules 1');
    expect(text).toMatch(/Asked: refused by anna after [\d.]+ m?s\. “Not on a Friday\.”/);
    expect(text).toContain('A rule allows it: allow tool');
    expect(page).toContain('<span class="del">- two</span><span class="add">+ zwei</span>');
    expect(text).toContain('About &lt;b&gt;work&lt;/b&gt;');
    expect(page).toMatch(
      /<summary>Output <span class="dim">\(2 lines, 8 characters\)<\/span><\/summary><pre>one\ntwo\n/,
    );
  });

  it('accepts a batch, a call, and standard output as the target', async () => {
    const [{ id }] = JSON.parse((await journal('list', '--json', '--conversation', 'work')).stdout);
    const batch = await journal('show', id, '--html', '-');
    expect([batch.code, batch.stderr]).toEqual([0, '']);
    expect(words(batch.stdout)).toContain(`Batch ${id}`);
    const one = await journal('show', 'no', '--html', '-');
    expect(one.stdout.match(/<li class="call/g)).toHaveLength(1);
    expect(words(one.stdout)).toContain('Call no');
  });

  it('refuses a path that cannot be a file, and leaves existing files', async () => {
    const refusal = async (path: string) => {
      const { code, stderr } = await journal('show', 'work', '--html', path);
      return [code, stderr.trim().split('\n').at(-1)];
    };
    expect(await refusal(toolexec.root)).toEqual([
      2,
      `toolexec: Cannot write ${JSON.stringify(toolexec.root)}: it is a directory. Name a file in it.`,
    ]);
    expect(await refusal('/dev/null')).toEqual([
      2,
      'toolexec: Cannot write "/dev/null": it is not a regular file. Name another place.',
    ]);
    const nowhere = join(toolexec.folder, 'none', 'p.html');
    expect(await refusal(nowhere)).toEqual([
      2,
      `toolexec: Cannot write ${JSON.stringify(nowhere)}: its directory does not exist. Make it first.`,
    ]);
    expect(existsSync(join(toolexec.folder, 'none'))).toBe(false);
    const both = await journal('show', 'work', '--html', 'x.html', '--json');
    expect([both.code, existsSync(join(toolexec.root, 'x.html'))]).toEqual([2, false]);
  });

  it('replaces the page completely, even through a link, and leaves no other file', async () => {
    const folder = join(toolexec.folder, 'pages');
    mkdirSync(folder);
    writeFileSync(join(folder, 'old.html'), 'old');
    symlinkSync('old.html', join(folder, 'link.html'));
    await journal('show', 'work', '--html', join(folder, 'link.html'));
    expect(readdirSync(folder).sort()).toEqual(['link.html', 'old.html']);
    expect(readFileSync(join(folder, 'old.html'), 'utf8')).toContain('<!doctype html>');
    if (process.getuid?.() === 0) return;
    chmodSync(folder, 0o500);
    const { code, stderr } = await journal('show', 'work', '--html', join(folder, 'old.html'));
    expect([code, stderr.includes('permission is denied')]).toEqual([2, true]);
    chmodSync(folder, 0o700);
  });
});

describe('toolexec journal report', () => {
  it('prints failures, questions and the calls of each tool as tables', async () => {
    const { code, stdout } = await journal('report', '--conversation', 'work');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✗ say \(work-4\) in .*\n {4}execution_failed: say failed: It broke <here>\.$/m);
    expect(stdout).toMatch(/^TOOL +CALLS +OK +FAILED +CANCELLED +NOT RUN +MEDIAN +RAN$/m);
    expect(stdout).toMatch(/^say +2 +0 +1 +0 +1 /m);
    expect(stdout).toMatch(/^5 calls in 1 batch since .*: ran /m);
    expect(stdout).toMatch(/^asked 2: 1 agreed, 1 refused, 0 open, answered in [\d.]+ m?s \(median\)$/m);
    expect(stdout).toMatch(/^not asked because of rules: 1, which saves about [\d.]+ m?s$/m);
  });

  it('prints the same as JSON, and accepts a start time', async () => {
    const report = JSON.parse(
      (await journal('report', '--conversation', 'work', '--json', '--since', '2h')).stdout,
    );
    expect(report).toMatchObject({
      batches: 1,
      calls: 5,
      outcomes: { ok: 2, failed: 2, 'ran, cancelled': 0, 'not run': 1 },
      asked: { calls: 2, approved: 1, refused: 1, open: 0 },
      spared: { calls: 1 },
    });
    expect(report.problems.map(({ callId, code }: JsonObject) => [callId, code])).toEqual([
      ['work-2', 'execution_failed'],
      ['no', 'user_denied'],
      ['work-4', 'execution_failed'],
    ]);
    expect((await journal('report', '--since', '2999-01-01')).stdout).toMatch(
      /^Nothing was delivered since 2999-01-01/,
    );
    const wrong = await journal('report', '--since', 'yesterday');
    expect([wrong.code, wrong.stderr.includes('Write a number and s, m, h, d or w')]).toEqual([2, true]);
  });
});
