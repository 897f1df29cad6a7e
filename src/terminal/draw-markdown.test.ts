import { describe, expect, it } from 'vitest';
import { createMarkdown } from './draw-markdown.js';
import type { Palette } from './draw-picture.js';

const same = (text: string): string => text;
const PLAIN: Palette = { bold: same, dim: same, red: same, green: same, yellow: same };
const marked =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;
const PAINTED: Palette = { ...PLAIN, bold: marked(1, 22), yellow: marked(33, 39) };

function draw(text: string, columns = 40, palette = PLAIN, size = text.length): string {
  const markdown = createMarkdown({ columns: () => columns, palette });
  let drawn = '';
  for (let at = 0; at < text.length; at += size) drawn += markdown.push(text.slice(at, at + size));
  return drawn + markdown.end();
}

const TEXT = `# What I did

- read \`a.ts\`
- wrote **two** files, and this entry is long enough to be folded
  - [x] inner
1. first

> quoted

\`\`\`ts
const a = "**not bold**";
\`\`\`

| file | lines |
| --- | --- |
| a.ts | 3 |
| long-name.ts | 12 |

See [the page](https://example.com/x).
`;

describe('createMarkdown()', () => {
  it('draws headings, lists, tasks, quotes, code, tables and links', () => {
    expect(draw(TEXT)).toBe(`What I did

• read a.ts
• wrote two files, and this entry is
  long enough to be folded
  ☑ inner
1. first

│ quoted

  ts
  │ const a = "**not bold**";

file          lines
a.ts          3
long-name.ts  12

See the page (https://example.com/x).
`);
  });

  it.each([1, 3, 7])('gives the same in pieces of %d', (size) => {
    expect(draw(TEXT, 40, PAINTED, size)).toBe(draw(TEXT, 40, PAINTED));
  });

  it('keeps the colours of a folded line, and ends each of them', () => {
    const drawn = draw('one **two three four five six seven** eight `nine ten` eleven', 24, PAINTED);
    expect(drawn.replaceAll(/\u001b\[\d+m/g, '')).toBe(
      'one two three four five\nsix seven eight nine\nten eleven\n',
    );
    expect([...drawn.matchAll(/\u001b\[(?:1|22|33|39)m/g)].map(([code]) => code)).toEqual([
      '\u001b[1m',
      '\u001b[22m',
      '\u001b[33m',
      '\u001b[39m',
    ]);
  });

  it('leaves text unchanged that is not Markdown: names with underscores, products, lone stars', () => {
    expect(draw('call my_own_name and 2 * 3 * 4, a*b*c')).toBe('call my_own_name and 2 * 3 * 4, a*b*c\n');
  });

  it('lets a model drive no terminal, inside of code neither', () => {
    const drawn = draw('a\u001b[2Jb\n```\n\u001b]0;x\u0007\n```\n');
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(drawn).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  });

  it('shows what it has when the stream is cut inside of code or a table', () => {
    expect(draw('```\ncode')).toBe('  │ code\n');
    expect(draw('| a | b |')).toBe('a  b\n');
  });
});
