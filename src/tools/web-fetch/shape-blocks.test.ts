import { describe, expect, it } from 'vitest';
import { pageText } from './to-markdown.js';

const signal = new AbortController().signal;
const read = async (html: string, format: 'markdown' | 'text' = 'markdown'): Promise<string> =>
  (await pageText(html, { format, url: 'https://a.example/dir/', signal })).text;

describe('code on a page', () => {
  it.each([
    [
      'lines with <br>, as Docusaurus writes them',
      '<pre class="language-sh"><code><span class="line">npm init<br></span><span class="line">npm test<br></span></code></pre>',
      '```sh\nnpm init\nnpm test\n```',
    ],
    [
      'lines in elements',
      '<pre><code><div>a = 1</div><div>  b = 2</div></code></pre>',
      '```\na = 1\n  b = 2\n```',
    ],
    [
      'no <code>, as Sphinx writes it',
      '<div class="highlight-python notranslate"><div class="highlight"><pre><span>def</span> __init__(*args):\n    pass\n</pre></div></div>',
      '```python\ndef __init__(*args):\n    pass\n```',
    ],
    [
      'line numbers beside it',
      '<table><tr><td><pre>1\n2</pre></td><td><pre>if a:\n    b()\n</pre></td></tr></table>',
      '```\nif a:\n    b()\n```',
    ],
    [
      'a fence in it',
      '<div class="highlight-source-md"><pre>```\na\n```</pre></div>',
      '````md\n```\na\n```\n````',
    ],
  ])('bug: lost its lines, its marks or its fence: %s', async (_, html, expected) => {
    expect(await read(html)).toBe(expected);
  });

  it('bug: lost its indentation as text', async () => {
    expect(await read('<p>Try:</p><pre>if a:\n    b()\n\tc()\n</pre>', 'text')).toBe(
      'Try:\n\nif a:\n    b()\n\tc()',
    );
  });

  it('is not what a directory shows: its links stay', async () => {
    const index = '<pre><a href="../">..</a>\n<a href="a.txt">a.txt</a>  1-Jan</pre>';
    expect(await read(index)).toContain('[a.txt](https://a.example/dir/a.txt)');
  });
});

describe('a table', () => {
  it('bug: a cell over several rows moved the cells of the later rows', async () => {
    const html =
      '<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td rowspan=2 colspan=2>x</td><td>1</td></tr><tr><td>2</td></tr>' +
      '<tr><td>p</td><td rowspan=9>q</td><td>3</td></tr><tr><td>r</td><td>4</td></tr></table>';
    const rows = (await read(html)).split('\n').map((line) => line.replace(/\s+/g, ''));
    expect(rows).toEqual(['|a|b|c|', '|---|---|---|', '|x||1|', '|x||2|', '|p|q|3|', '|r|q|4|']);
  });

  it('bug: with a caption, its header row became an ordinary one', async () => {
    const html = '<table><caption>Sizes</caption><tr><th>name</th></tr><tr><td>one</td></tr></table>';
    expect(await read(html)).toBe('Sizes\n\n| name |\n| --- |\n| one |');
  });

  it('whose cells cover very many rows stays small', async () => {
    const cells = `<td rowspan=1000>${'x'.repeat(150)}</td>`.repeat(20);
    const html = `<table>${`<tr>${cells}</tr>`.repeat(200)}</table>`;
    expect((await read(html, 'text')).length).toBeLessThan(2 * html.length);
  });
});

it.each([
  ['10<sup>6</sup> and x<sup>-2</sup>', '10^6 and x^-2'],
  ['Toolexec<sup>®</sup>, a note<sup><a href="#n">1</a></sup>', 'Toolexec®, a note1'],
  ['<li><input type=checkbox checked> done<li><input type=checkbox> open', '☑ done\n\n☐ open'],
  ['<li><input type=checkbox hidden>text', 'text'],
  ['<li>menu<input type=checkbox>', 'menu'],
])('bug: %s lost its meaning', async (html, text) => {
  expect(await read(html, 'text')).toBe(text);
});

it.each([
  [
    '<frameset><frame src="left.html"><frame src="/right.html"></frameset>',
    '/dir/left.html, https://a.example/right.html',
  ],
  ['<base href="/b/"><meta http-equiv=refresh content="0; next.html">', '/b/next.html'],
])('bug: gave nothing for a page that shows or leads to others: %s', async (html, target) => {
  expect(await read(html)).toBe(`The page shows no text, and leads to https://a.example${target}`);
});
