import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { drawPage } from './draw-page.js';
import type { PageBatch, PageCall, PageDetail } from './page-data.js';

function call(place: number, more: Partial<PageCall> = {}): PageCall {
  return {
    place,
    toolName: 'write_file',
    callId: `c${place}`,
    title: 'write_file · write a.txt',
    risk: 'medium',
    outcome: 'ok',
    hasSideEffects: true,
    isSparedByRule: false,
    acceptedAt: 1_000,
    startedAt: 3_000,
    finishedAt: 4_000,
    ranMs: 1_000,
    ...more,
  };
}

function batch(calls: readonly PageCall[], more: Partial<PageBatch> = {}): PageBatch {
  return { id: 'batch-1', conversation: 'c', at: 1_000, decisions: [], calls, ...more };
}

function detail(more: Partial<PageDetail> = {}): PageDetail {
  return {
    picture: {
      title: 'write_file · write a.txt',
      risk: 'medium',
      reason: 'because',
      effects: [],
      dangerous: false,
      parts: [],
    },
    args: {},
    isEdited: false,
    effects: [{ kind: 'write', path: 'a.txt' }],
    disposition: 'requires_confirmation',
    output: '',
    truncated: false,
    origin: [],
    changes: [],
    ...more,
  };
}

const draw = (batches: readonly PageBatch[], details: PageDetail = detail()): Promise<string> =>
  drawPage({ title: 'Report', about: '', madeAt: 0, batches }, (_, places) =>
    Promise.resolve(places.map(() => details)),
  );

/** The text of a page as a person reads it. */
const words = (page: string): string =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ');

describe('drawPage()', () => {
  it('allows its own style and nothing else, and loads nothing', async () => {
    const page = await draw([batch([call(0)])]);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'"`,
    );
    expect(
      page.match(/<(?:script|link|img|iframe|object|base|form)\b| style=| on\w+=|https?:|url\(/gi),
    ).toBeNull();
  });

  it('shows every text as text, wherever it comes from', async () => {
    const evil = `"'><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\u202e\u200b\u0000`;
    const hostile = call(0, {
      toolName: evil,
      callId: evil,
      title: evil,
      outcome: 'failed',
      error: { code: evil, message: evil },
      repeats: evil,
      asked: { isInAdvance: false, decision: { approved: false, at: 2_000, by: evil, reason: evil } },
    });
    const page = await draw(
      [
        batch([hostile], {
          id: evil,
          conversation: evil,
          said: evil,
          model: evil,
          decisions: [{ kind: evil, at: 1, data: { by: evil, why: evil } }],
        }),
      ],
      detail({
        picture: {
          title: evil,
          risk: 'high',
          reason: evil,
          effects: [],
          dangerous: true,
          parts: [
            { kind: 'diff', path: evil, before: `a\n${evil}`, after: evil, from: evil },
            { kind: 'diff', path: evil, before: evil, after: undefined },
            { kind: 'file', path: evil, text: evil },
            { kind: 'unshown', path: evil, why: evil, bytesBefore: 1, bytesAfter: undefined },
            {
              kind: 'command',
              text: `${evil} rm`,
              shell: 'sh',
              cwd: evil,
              marks: [{ start: evil.length + 1, end: evil.length + 3, reason: evil }],
              touches: [{ kind: 'read', path: evil }],
              commands: [{ words: [evil], touches: [] }],
            },
            { kind: 'url', url: evil },
            { kind: 'arguments', json: { [evil]: evil } },
            { kind: 'problem', text: evil },
          ],
        },
        args: { x: evil },
        output: evil,
        truncated: true,
        outputRef: evil,
        hint: evil,
        changes: [{ kind: evil, paths: [evil] }],
        undoneBy: evil,
      }),
    );
    expect(page.match(/<script|<img|\u202e|\u200b|\u0000/g)).toBeNull();
    const seen = page.split('alert(1)&lt;/script&gt;').length - 1;
    expect(seen).toBeGreaterThan(25);
    expect(page).toContain('‹U+202E›‹U+200B›‹U+0000›');
    expect(page).toContain('<mark>rm</mark>');
    // Every element that is opened is closed: no text has escaped from its place.
    for (const name of ['li', 'details', 'summary', 'pre', 'span', 'section', 'div', 'ul', 'bdi', 'p']) {
      const open = page.match(new RegExp(`<${name}[ >]`, 'g'))?.length ?? 0;
      expect([name, page.match(new RegExp(`</${name}>`, 'g'))?.length ?? 0]).toEqual([name, open]);
    }
  });

  it('hides what looks like a secret', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    const picture = {
      ...detail().picture,
      parts: [
        {
          kind: 'command',
          text: `curl -H "x: ${secret}"`,
          shell: 'sh',
          marks: [{ start: 0, end: 4, reason: 'r' }],
          touches: [],
          commands: [],
        },
        { kind: 'diff', path: 'a', before: 'x\n', after: `key = ${secret}\n` },
      ] as const,
    };
    const page = await draw(
      [batch([call(0)], { said: secret })],
      detail({ picture, args: { secret }, output: secret }),
    );
    expect(page).not.toContain(secret);
    expect(page).toContain('[REDACTED]');
  });

  it('names what went wrong first, what ran before what did not, with a link to each', async () => {
    const refused = call(1, { outcome: 'not run', error: { code: 'user_denied', message: 'No.' } });
    const broken = call(2, { outcome: 'failed', error: { code: 'execution_failed', message: 'It broke.' } });
    const page = await draw([batch([call(0), refused, broken, call(3, { outcome: 'waits' })])]);
    const text = words(page);
    expect(text).toMatch(/Went wrong \(2\).*It broke\..*No\..*Waits for a decision \(1\).*Calls/);
    for (const anchor of ['b0c1', 'b0c2', 'b0c3']) {
      expect([anchor, page.includes(`href="#${anchor}"`), page.includes(`id="${anchor}"`)]).toEqual([
        anchor,
        true,
        true,
      ]);
    }
  });

  it('shows the questions, who decided, and the questions that rules have saved', async () => {
    const asked = (place: number, approved: boolean, ms: number): PageCall =>
      call(place, {
        asked: { isInAdvance: false, decision: { approved, at: 1_000 + ms, by: 'anna', reason: 'too late' } },
      });
    const calls = [asked(0, true, 4_000), asked(1, false, 6_000), call(2, { isSparedByRule: true })];
    const inAdvance = call(3, {
      asked: { isInAdvance: true, decision: { approved: true, at: 1_000, by: '--yes' } },
    });
    const text = words(await draw([batch([...calls, inAdvance])]));
    expect(text).toContain('Asked 2 1 agreed, 1 refused · 1 decided in advance · 6.0 s waited');
    expect(text).toContain('Not asked, by rules 1 about 5.0 s saved');
    expect(text).toContain('Asked: agreed by anna after 4.0 s.');
    expect(text).toContain('Asked: refused by anna after 6.0 s. “too late”');
    expect(text).toContain('Agreed to in advance (--yes).');
  });

  it('draws when a call waited for the person and for its turn, and when it ran', async () => {
    const waited = call(0, { asked: { isInAdvance: false, decision: { approved: true, at: 2_000 } } });
    const page = await draw([batch([waited])]);
    // From 1,000 to 4,000, a third each.
    expect(page).toContain(
      '<rect class="w" x="0" y="1" width="333" height="8"/><rect class="q" x="333" y="1" width="333" height="8"/><rect class="r" x="667" y="1" width="333" height="8"/>',
    );
  });

  it('folds what is long, counts what it leaves out, and draws few elements for many lines', async () => {
    const text = 'line\n'.repeat(5_000);
    const picture = { ...detail().picture, parts: [{ kind: 'file', path: 'a', text }] as const };
    const page = await draw(
      [batch([call(0, { outcome: 'failed' })])],
      detail({ picture, output: 'o'.repeat(100_000) }),
    );
    expect(page).toMatch(/<details class="part"><summary>New file a <span class="dim">\(5,000 lines\)/);
    expect(page).toContain('characters are left out here');
    expect(page.length).toBeLessThan(80_000);
    expect(page.match(/<[a-z]/g)?.length).toBeLessThan(200);
  });

  it('cuts names, reasons and paths that a model has made as long as it could', async () => {
    const long = 'x'.repeat(1_000_000);
    const endless = call(0, {
      toolName: long,
      callId: long,
      title: long,
      outcome: 'failed',
      error: { code: 'bad_args', message: long },
      asked: { isInAdvance: false, decision: { approved: true, at: 1, by: long, reason: long } },
    });
    const page = await draw(
      [
        batch([endless], {
          conversation: long,
          said: long,
          decisions: [{ kind: 'wait', at: 1, data: { by: long, why: long } }],
        }),
      ],
      detail({
        output: long,
        args: { long },
        hint: long,
        changes: [{ kind: 'created', paths: [long, long] }],
        effects: [{ kind: 'write', path: long }],
        undoneBy: long,
        picture: {
          ...detail().picture,
          parts: [
            { kind: 'url', url: long },
            { kind: 'command', text: long, shell: 'sh', marks: [], touches: [], commands: [] },
            { kind: 'problem', text: long },
          ],
        },
      }),
    );
    expect(page.length).toBeLessThan(120_000);
  });

  it('lists every path that changed, and counts those that the result does not list', async () => {
    const paths = Array.from({ length: 200 }, (_, number) => `src/file-${number}.ts`);
    const changes = [
      { kind: 'created', paths },
      { kind: 'deleted', paths: ['a\\u{A}b'] },
    ];
    const page = words(await draw([batch([call(0)])], detail({ changes, moreChanges: 102 })));
    for (const path of paths) expect(page).toContain(path);
    expect(page).toContain('created (200) src/file-0.ts, src/file-1.ts');
    expect(page).toContain('deleted (1) a\\u{A}b');
    expect(page).toContain('and 102 paths more');
  });

  it('draws changes that are not committed, each path of them', async () => {
    const file = { kind: 'file', mode: '644', size: 2 } as const;
    const entries = [
      ...Array.from({ length: 300 }, (_, at) => ({ path: `f${at}`, change: 'create', after: file }) as const),
      { path: 'run', change: 'modify', before: file, after: { ...file, mode: '755' }, isSameContent: true },
      { path: 'l', change: 'delete', before: { kind: 'link', target: 'a\\u{200B}' } },
    ] as const;
    const notKept = [{ path: 'pipe', reason: 'it is neither a file, a directory nor a link' }];
    const part = { kind: 'changes', entries, notKept } as const;
    const picture = { ...detail().picture, parts: [part] };
    const page = words(await draw([batch([call(0)])], detail({ picture })));
    expect(page).toContain(
      '302 changes, not kept yet: 1 deleted (1 link), 1 modified (1 file mode), 300 created (300 files); 1 that will not be kept',
    );
    expect(page).toContain('~ run 644 → 755');
    expect(page).toContain('- l → a\\u{200B}');
    expect(page).toContain('+ f299 644, 2 bytes');
    expect(page).toContain('pipe: it is neither');
  });

  it('stays bounded with 10,000 calls: failed calls keep their details, and no line is left out', async () => {
    const many = Array.from({ length: 1_000 }, (_, number) =>
      batch(
        Array.from({ length: 10 }, (__, place) =>
          call(place, number === 999 && place === 9 ? { outcome: 'failed' } : {}),
        ),
        { id: `batch-${number}` },
      ),
    );
    const loaded: number[] = [];
    const big = detail({ output: 'x'.repeat(50_000) });
    const page = await drawPage({ title: 'Report', about: '', madeAt: 0, batches: many }, (_, places) => {
      loaded.push(places.length);
      return Promise.resolve(places.map(() => big));
    });
    expect(loaded.reduce((sum, each) => sum + each, 0)).toBe(1_000);
    expect(page).toContain('id="b999c9"><p class="decision">');
    expect(page.match(/<li class="call/g)).toHaveLength(10_000);
    expect(words(page)).toContain(
      'Details of 9,000 calls are left out; toolexec journal show ID shows them.',
    );
    expect(page.length).toBeLessThan(12_000_000);
    expect((page.match(/<[a-z]/g)?.length ?? 0) / 10_000).toBeLessThan(14);
  });
});
