import { describe, expect, it } from 'vitest';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { pageText } from './to-markdown.js';
import { type PageNode, visiblePage } from './visible-page.js';

const SIZE = 120_000;
const times = (text: string): string => text.repeat(Math.ceil(SIZE / text.length));

/** Pages built to take a parser's time, each the size of a large page. */
const HOSTILE: readonly [what: string, html: string][] = [
  ['a comment in a style sheet that never ends', `<style>${times('/* * ')}</style><p>x</p>`],
  ['cells of one row', `<table><tr>${times('<td>x</td>')}`],
  ['elements in each other', times('<div>')],
  ['elements in each other, closed again', `${times('<b>')}x${times('</b>')}`],
  ['neighbours', times('<p>x')],
  ['tables in cells', times('<table><tr><td>')],
  ['lists in lists', times('<ul><li>')],
  ['tags that never end', times('<a href="')],
  ['attributes of one tag', `<p ${times('a=b ')}>x</p>`],
  ['a style of one element', `<p style="${times('left:-9;')}">x</p>`],
  ['classes of one element', `<style>.a{display:none}</style><p class="${times('b ')}">x</p>`],
  ['rules of a style sheet', `<style>${times('.a{display:none}')}</style><p class="b">x</p>`],
  [
    'rules below many others',
    `<style>${times('.a .a .a .b{top:0;display:none}')}</style>${'<i class=a>'.repeat(500)}<i class=b>x`,
  ],
  ['braces of a style sheet', `<style>${times('{')}</style><p>x</p>`],
  ['entities', `<p>${times('&amp;')}</p>`],
  ['marks of Markdown', `<p>${times('*_`[')}</p>`],
  ['white space', `<p>${times(' \n')}x</p>`],
];

interface Shape {
  elements: number;
  depth: number;
  children: number;
}

function shapeOf(root: PageNode): Shape {
  const shape: Shape = { elements: 0, depth: 0, children: 0 };
  const open: { readonly node: PageNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    const inner = [...node.childNodes].filter(({ nodeType }) => nodeType === 1);
    shape.elements += inner.length;
    shape.depth = Math.max(shape.depth, depth);
    shape.children = Math.max(shape.children, inner.length);
    for (const child of inner) open.push({ node: child, depth: depth + 1 });
  }
  return shape;
}

const never = new AbortController().signal;

const textOf = async (html: string): Promise<string> =>
  (await pageText(html, { format: 'text', url: 'https://a.example/dir/', signal: never })).text;

describe('a page with parts that no reader sees', () => {
  it.each([
    'display:/* */none',
    'd\\69splay: none',
    'color:rgba(0,0,0,0)',
    'color: rgb(0 0 0 / 0%)',
    'color:#0000',
    'color:#ffffff00',
    'transform:translateX(-9999px)',
    'transform:scale(0.0)',
    'scale:0',
    'margin-left:-9999px',
    'clip-path:circle(0)',
    'clip-path:polygon(0 0,0 0,0 0)',
    'font-size:1px',
    'font-size:.01em',
    'font:0/0 a',
    'opacity:0.01',
    'filter:opacity(0)',
    'position:absolute;left:-99em',
    'position:absolute;left:calc(-9999px)',
    'position:fixed;inset:-9999px auto auto -9999px',
    'translate:-9999px',
    'position:absolute;width:1px;height:1px;overflow:hidden',
    '-webkit-text-fill-color:transparent',
    'font-size:0vw',
    'font-size:00px',
    'font:0 serif',
    'font:italic 700 0/1 serif',
    'color:transparent;color:foo(1)',
    'color:transparent;color:#12345',
    'font-size:0;font:12px',
    'color:transparent;-webkit-text-fill-color:initial',
    'color:oklch(0 0 0 / 0)',
    'color:rgb(0,0,0,0)',
    'font-size:calc(0px)',
    'font-size:max(0px, 0em)',
    'display:none;display:blockfoo',
    'visibility:hidden !important;visibility:visible',
    'color:transparent ! important;color:black',
    'font-size:0!important;font:12px/1 serif',
  ])('bug: the text with the style "%s" was given', async (style) => {
    expect(await textOf(`<p style="${style}">unseen</p><p>seen</p>`)).toBe('seen');
  });

  it.each([
    'font-size:.8em',
    'font-size:12px',
    'opacity:.9',
    'color:rgba(0,0,0,1)',
    'color:rgb(0,0,0)',
    'color:#f0f0f0',
    'transform:translate(-50%,-50%)',
    'margin-left:-20px',
    'background-image:linear-gradient(red,blue);background-clip:text;color:transparent',
    '-webkit-background-clip:text;-webkit-text-fill-color:transparent',
    'font:0.9em serif',
    'font-size:large',
    'position:absolute;top:12000px',
    'max-width:1px;overflow:hidden;text-overflow:ellipsis',
    'color:transparent;-webkit-text-fill-color:#000',
    'font-size:0;font-size:calc(1em + 1px)',
  ])('keep the text with the style "%s"', async (style) => {
    expect(await textOf(`<p style="${style}">seen</p>`)).toBe('seen');
  });

  it.each([
    '.box .a{display:none}',
    'div > .a{display:none}',
    'main .box > p.a{opacity:0}',
    'p.a.b{display:none}',
    'p{visibility:hidden}',
    '@media screen{.a{display:none}}',
    '@media (min-width:1px){.a{display:none}}',
    '@layer one{@supports (color:red){.a{display:none}}}',
    '.box{& .a{display:none}}',
    '.box{color:red;.a{display:none}}',
    '.\\61{display:none}',
    '.a{display:none!important} #i.a{display:block}',
    '.a{display:none;display:bogus}',
  ])('leave out the text that is hidden by %s', async (css) => {
    const html = `<style>${css}</style><main><div class="box"><p class="a b" id="i">unseen</p></div></main>seen`;
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    '.other .a{display:none}',
    'main > .a{display:none}',
    '.a.other{display:none}',
    '.a:hover{display:none}',
    '.a + p{display:none}',
    '@media print{.a{display:none}}',
    '@media (max-width:600px){.a{display:none}}',
    '.a{display:none} .box .a{display:block}',
    '.box .a.b{display:flex} .box .a{display:none}',
    'body{opacity:0}',
  ])('keep the text that %s does not hide', async (css) => {
    const html = `<style>${css}</style><main><div class="box"><p class="a b">seen</p></div></main>`;
    expect(await textOf(html)).toBe('seen');
  });

  it('leave out text that the last of very many rules hides', async () => {
    const css = `${'.c .a{display:none}'.repeat(20_001)}.box .a{display:none}`;
    const html = `<style>${css}</style><div class="box"><p class="a">unseen</p></div>seen`;
    expect(await textOf(html)).toBe('seen');
  });

  it('keep text that its own style makes visible', async () => {
    const html = '<style>.a{display:none}</style><p class="a" style="display:block">seen</p>';
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    ['font-size:0', 'font-size:13px'],
    ['font-size:0', 'font-size:13px !important;font-size:0'],
    ['font-size:0', 'font:13px/1 Ubuntu !important'],
    ['font-size:0', 'font-size:calc(var(--size))'],
    ['font-size:0px;padding:9px', 'font:13px/1 Ubuntu'],
    ['font-size:0', 'font-size:medium'],
    ['font-size:0', 'font-size:x-large'],
    ['font-size:0', 'font-size:clamp(1rem, 2vw, 2rem)'],
    ['font-size:0', 'font:italic small-caps .875rem/1.5 serif'],
    ['color:transparent', '-webkit-text-fill-color:#333'],
    ['visibility:hidden', 'visibility:visible'],
    ['color:transparent', 'color:#333'],
    ['color:transparent', 'background-clip:text'],
  ])('bug: the style "%s" around an element that is shown by "%s" hid it too', async (outer, inner) => {
    const html = `<table><tr><td style="${outer}">unseen<div style="${inner}"><b>seen</b></div>unseen</td></tr></table>`;
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    ['font-size:0', 'font-size:2em'],
    ['font-size:0', 'font-size:inherit'],
    ['font-size:0', 'font-size:smaller'],
    ['font-size:0', 'font-size:larger'],
    ['font-size:0', 'font-size:calc(2em)'],
    ['font-size:0', 'font-size:min(100%, 2rem)'],
    ['font-size:0', 'font-size:-1px'],
    ['font-size:0', 'font-size:x1px'],
    ['font-size:0', 'font:smaller Large'],
    ['font-size:0', 'font:small-caps 0 serif'],
    ['color:transparent', 'color:foo(1)'],
    ['color:transparent', 'color:rgb('],
    ['visibility:hidden', 'visibility:inherit'],
    ['color:transparent', 'color:bogus'],
    ['opacity:0', 'opacity:1'],
    ['display:none', 'display:block'],
  ])('leave out what the style "%s" hides in spite of "%s" inside', async (outer, inner) => {
    const html = `<div style="${outer}"><p style="${inner}">unseen</p></div>seen`;
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    ['visibility:hidden', 0],
    ['opacity:0', 0],
    ['display:none', 0],
    ['font-size:0', 1],
    ['color:transparent', 1],
    ['-webkit-text-fill-color:transparent', 1],
  ])('bug: a style that hides only letters hid a picture: "%s" keeps %i', async (style, kept) => {
    const own = await visiblePage(`<img src=a style="${style}">`, never);
    expect([[...own.document.querySelectorAll('img')].length, own.hidden]).toEqual([kept, 1 - kept]);
    const outer = await visiblePage(`<a href=b style="${style}">unseen<img src=a></a>`, never);
    expect([...outer.document.querySelectorAll('img')]).toHaveLength(kept);
    expect(outer.document.body.textContent?.trim()).toBe('');
  });

  it('bug: a heading in colors of the background was lost if two rules made it', async () => {
    const css = '.bg-clip-text{background-clip:text}.text-transparent{color:transparent}';
    const html = `<style>${css}</style><h1 class="text-transparent bg-clip-text">seen</h1><p class="text-transparent">unseen`;
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    '<div popover>unseen</div>',
    '<math><semantics><annotation>unseen</annotation></semantics></math>',
    '<progress>unseen</progress>',
  ])('bug: what browsers hide without a style was given: %s', async (html) => {
    expect(await textOf(`${html}<p>seen</p>`)).toBe('seen');
  });

  it('stay left out where the parser starts again among many open elements', async () => {
    const html = `<i style="font-size:0">${'<b>'.repeat(600)}${'unseen '.repeat(2_000)}</i>`;
    expect(await textOf(`seen${html}`)).toBe('seen');
  });

  it('bug: a style sheet inside comment marks hid nothing', async () => {
    const html = '<style><!-- .a{display:none} --></style><p class="a">unseen</p><p>seen</p>';
    expect(await textOf(html)).toBe('seen');
  });

  it.each([
    ['a comment', '<!-- ', ' -->'],
    ['an attribute', '<a title="', '">'],
  ])('bug: with many open elements, %s was given as text', async (_, begin, end) => {
    const unseen = `${begin}${'x > unseen '.repeat(1_000)}${end}`;
    expect(await textOf(`${'<b>'.repeat(600)}before ${unseen}after`)).toBe('before after');
  });
});

describe('a page that leaves tags out, as HTML allows', () => {
  it.each(['<p>text</p>', 'text', '<body><p>text', '</head><p>text'])(
    'bug: was empty without an end tag of its head: %s',
    async (rest) => {
      const html = `<!doctype html><html><head><meta charset=utf-8><title>T</title><style>p{}</style>${rest}`;
      expect(await textOf(html)).toBe('text');
    },
  );

  it('bug: its links ignored the address that it states for them', async () => {
    const html = '<head><base href="/other/"><base href="/third/"></head><a href="page">link</a>';
    const { text } = await pageText(html, {
      format: 'markdown',
      url: 'https://a.example/dir/',
      signal: never,
    });
    expect(text).toBe('[link](https://a.example/other/page)');
  });

  it('bug: the summary and the content of details ran together', async () => {
    expect(await textOf('<details><summary>more</summary>inner</details>')).toBe('more\ninner');
  });
});

describe('a page that is made to take time', () => {
  // The duration of the later steps depends on the size of the tree, so the test measures the size instead of
  // the time. The limit is far away: an algorithm of quadratic time would need hours.
  eachOf([...HOSTILE], 5)(
    'becomes a small tree, and a text: %s',
    async (_, html) => {
      const { document } = await visiblePage(html, never);
      const { elements, depth, children } = shapeOf(document.body);
      expect(elements).toBeLessThanOrEqual(20_000);
      expect(depth).toBeLessThanOrEqual(101);
      expect(children).toBeLessThanOrEqual(2_501);
      const { text } = await pageText(html, { format: 'markdown', url: 'https://a.example/', signal: never });
      expect(text.length).toBeLessThanOrEqual(3 * html.length);
    },
    120_000,
  );

  it('bug: words between the cells of a table failed the call', async () => {
    const html = '<table><tr>stray <td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr>loose</table>';
    const { text } = await pageText(html, { format: 'markdown', url: 'https://a.example/', signal: never });
    for (const word of ['stray', 'a', 'b', 'c', 'd', 'loose']) expect(text).toContain(word);
  });

  it('is abandoned when its call is cancelled', async () => {
    const signal = AbortSignal.abort(new Error('not any more'));
    await expect(visiblePage(times('<p>x'), signal)).rejects.toMatchObject({ code: 'cancelled' });
  });
});
