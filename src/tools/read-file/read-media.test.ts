import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { callTool } from '../fixtures/call-tool.js';
import { realContext } from '../fixtures/real-context.js';
import { readFileTool } from './read-file.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const PNG = bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
const JPEG = bytes('\xff\xd8\xff\xe0\0\x10JFIF');
const GIF = bytes('GIF89a\x01\0\x01\0\0');
const WEBP = bytes('RIFF\x1a\0\0\0WEBPVP8L');
const PDF = bytes('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n');

async function read(name: string, content: Uint8Array, args: object = {}, maxContentBytes = 1_000) {
  const ctx = realContext({ limits: { maxContentBytes } });
  writeFileSync(join(ctx.root, name), content);
  return { ctx, output: await callTool(readFileTool(), { path: name, ...args }, ctx) };
}

describe('read_file of a picture or a PDF', () => {
  test.each([
    ['a.png', PNG, 'image/png'],
    ['a.JPG', JPEG, 'image/jpeg'],
    ['a.gif', GIF, 'image/gif'],
    ['a.webp', WEBP, 'image/webp'],
    ['picture', PNG, 'image/png'],
    ['said-to-be.png', JPEG, 'image/jpeg'],
  ])('returns %s in its own type', async (name, content, mediaType) => {
    const { output } = await read(name, content);
    expect(output.content).toEqual([{ type: 'image', mediaType, data: Buffer.from(content) }]);
    expect(output.metadata).toMatchObject({ media_type: mediaType, total_bytes: content.length });
  });

  test('returns a PDF as a resource with the address of the file', async () => {
    const { ctx, output } = await read('a b.pdf', PDF);
    const uri = pathToFileURL(join(ctx.root, 'a b.pdf')).href;
    expect(output.content).toEqual([
      { type: 'resource', uri, mediaType: 'application/pdf', data: Buffer.from(PDF) },
    ]);
  });

  test('treats bytes that could be text as a PDF or a picture only if the name says so', async () => {
    const text = bytes('%PDF-1.4 begins every PDF');
    expect((await read('notes.txt', text)).output).toMatchObject({ text: '%PDF-1.4 begins every PDF' });
    expect((await read('notes.txt', text)).output.content).toBeUndefined();
    expect((await read('notes.pdf', text)).output.content).toMatchObject([{ mediaType: 'application/pdf' }]);
    expect((await read('gif.md', bytes('GIF89a is a format'))).output.text).toBe('GIF89a is a format');
  });

  test('returns it as content up to the limit, and as base64 above', async () => {
    expect((await read('a.png', PNG, {}, PNG.length)).output.content).toHaveLength(1);
    const { output } = await read('a.png', PNG, {}, PNG.length - 1);
    expect(output.content).toBeUndefined();
    expect(output.text).toBe(`[binary:base64]\n${Buffer.from(PNG).toString('base64')}`);
  });

  test('returns a slice of one as bytes', async () => {
    expect((await read('a.png', PNG, { offset: 0, limit: 3 })).output.text).toBe('[binary:base64]\niVBO');
  });

  test('does not believe a name', async () => {
    expect((await read('a.png', bytes('no picture'))).output).toMatchObject({ text: 'no picture' });
    expect((await read('a.pdf', bytes('x\0y'))).output.text).toMatch(/^\[binary:base64\]/);
  });

  test('returns one that exceeds the limit for text', async () => {
    const large = Buffer.concat([PNG, Buffer.alloc(700_000, 7)]);
    const { output } = await read('a.png', large, {}, 1_000_000);
    const [image] = output.content ?? [];
    expect(image).toMatchObject({ type: 'image', mediaType: 'image/png' });
    // Compared as a whole: byte by byte takes seconds.
    expect(image?.type === 'image' && large.equals(image.data)).toBe(true);
  });
});
