import { describe, expect, it } from 'vitest';
import type { ContentBlock, ToolResult } from '../contract/call.js';
import type { CallOrigin } from './call-origin.js';
import { contentWords, toModelText } from './content-words.js';
import type { WireFormat } from './registry.js';
import { writeResults } from './write-results.js';

const data = Uint8Array.of(1, 2, 3);
const BASE64 = 'AQID';
const text: ContentBlock = { type: 'text', text: 'Here:' };
const image: ContentBlock = { type: 'image', mediaType: 'image/png', data };
const audio: ContentBlock = { type: 'audio', mediaType: 'audio/wav', data };
const link: ContentBlock = { type: 'resource_link', uri: 'https://a.test/x', name: 'x' };
const inside: ContentBlock = { type: 'resource', uri: 'file:///a.txt', text: 'inside' };
const pdf: ContentBlock = { type: 'resource', uri: 'file:///d/a.pdf', mediaType: 'application/pdf', data };
const zip: ContentBlock = { type: 'resource', uri: 'file:///a.zip', mediaType: 'application/zip', data };

const NOT_SENT = 'not shown, because this kind of content cannot be sent here';
const AUDIO_WORDS = `[audio audio/wav, 3 bytes: ${NOT_SENT}]`;

function resultOf(content: readonly ContentBlock[], more: Partial<ToolResult> = {}): ToolResult {
  const base = { callId: 'c', toolName: 't', truncated: false, executionTimeMs: 1, metadata: {} };
  return { ...base, success: true, output: contentWords(content), content, ...more } as ToolResult;
}

function written(format: WireFormat, result: ToolResult, origin?: CallOrigin): unknown {
  return writeResults(format, [result], origin === undefined ? {} : { origins: [origin] });
}

describe('content for Anthropic', () => {
  const blocks = (result: ToolResult): unknown =>
    (written('anthropic', result) as { content: [{ content: unknown }] }).content[0].content;

  it('is blocks of text, images and documents, with what it does not take in words', () => {
    expect(blocks(resultOf([text, image, audio, pdf, link, inside]))).toEqual([
      { type: 'text', text: 'Here:' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } },
      { type: 'text', text: AUDIO_WORDS },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: BASE64 },
        title: 'file:///d/a.pdf',
      },
      { type: 'text', text: '[resource_link "x" https://a.test/x]' },
      { type: 'text', text: '[resource file:///a.txt]\ninside' },
    ]);
  });

  it('has the text of the tool first, and no text without a visible character', () => {
    expect(blocks(resultOf([{ type: 'text', text: ' \n' }, image], { output: 'mine' }))).toEqual([
      { type: 'text', text: 'mine' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } },
    ]);
  });

  it('is a text where it is nothing but text, and in a failure, where the API takes nothing else', () => {
    expect(blocks(resultOf([text, audio]))).toBe(`Here:\n${AUDIO_WORDS}`);
    const error = { code: 'execution_failed', message: 'half done' } as const;
    const failed = resultOf([image], { success: false, error });
    expect(blocks(failed)).toBe(`Error: half done\n\n[image image/png, 3 bytes: ${NOT_SENT}]`);
  });

  it('says an image of a kind that the API refuses in words', () => {
    expect(blocks(resultOf([{ type: 'image', mediaType: 'image/tiff', data }]))).toContain(
      '[image image/tiff',
    );
  });
});

describe('content for OpenAI', () => {
  it('is a text in chat completions, because a tool message takes only text', () => {
    expect(written('openai', resultOf([text, image]))).toEqual([
      { role: 'tool', tool_call_id: 'c', content: `Here:\n[image image/png, 3 bytes: ${NOT_SENT}]` },
    ]);
  });

  it('is texts, images and files in responses', () => {
    const output = [
      { type: 'input_text', text: 'Here:' },
      { type: 'input_image', image_url: `data:image/png;base64,${BASE64}`, detail: 'auto' },
      { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${BASE64}` },
      { type: 'input_text', text: AUDIO_WORDS },
    ];
    const result = resultOf([text, image, pdf, audio]);
    expect(written('openai-responses', result)).toEqual([
      { type: 'function_call_output', call_id: 'c', output },
    ]);
    const custom = written('openai-responses', result, { callId: 'c', item: 'custom_tool_call' });
    expect(custom).toEqual([{ type: 'custom_tool_call_output', call_id: 'c', output }]);
  });

  it('is a text in the answers to shells and patches, and beside a failure', () => {
    const streams = { stdout: 'drawn\n', stdout_bytes: 6, stderr: '', stderr_bytes: 0 };
    for (const item of ['local_shell_call', 'apply_patch_call', 'shell_call'] as const) {
      for (const more of [{}, { output: 'drawn\n' }, { output: 'drawn\n', metadata: streams }]) {
        const answer = JSON.stringify(
          written('openai-responses', resultOf([image], more), { callId: 'c', item }),
        );
        expect(answer.split(`[image image/png, 3 bytes: ${NOT_SENT}]`)).toHaveLength(2);
        expect(answer.includes('drawn')).toBe('output' in more);
        expect(answer).not.toContain(BASE64);
      }
    }
    const error = { code: 'execution_failed', message: 'half done' } as const;
    const failed = resultOf([image], { success: false, error, output: 'drawn' });
    expect(written('openai-responses', failed, { callId: 'c', item: 'shell_call' })).toMatchObject([
      { output: [{ stdout: `drawn\n[image image/png, 3 bytes: ${NOT_SENT}]`, stderr: 'Error: half done' }] },
    ]);
    expect(written('openai-responses', resultOf([image], { success: false, error }))).toMatchObject([
      { output: [{ text: 'Error: half done' }, { type: 'input_image' }] },
    ]);
  });
});

describe('content for Gemini', () => {
  it('is inline data in the parts of the response, with texts in the response', () => {
    expect(written('gemini', resultOf([text, image, pdf, zip]))).toEqual({
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c',
            name: 't',
            response: { output: `Here:\n[resource file:///a.zip application/zip, 3 bytes: ${NOT_SENT}]` },
            parts: [
              { inlineData: { mimeType: 'image/png', data: BASE64 } },
              { inlineData: { mimeType: 'application/pdf', data: BASE64 } },
            ],
          },
        },
      ],
    });
  });

  it('describes the parts if there is no text', () => {
    expect(written('gemini', resultOf([image]))).toMatchObject({
      parts: [{ functionResponse: { response: { output: '[image image/png, 3 bytes]' } } }],
    });
  });
});

describe('content of native results', () => {
  it('is the blocks, with data as base64', () => {
    expect(JSON.parse(JSON.stringify(written('native', resultOf([text, image, link]))))).toMatchObject([
      { output: contentWords([text, image, link]), content: [text, { ...image, data: BASE64 }, link] },
    ]);
  });

  it('is written for results too that were JSON in between', () => {
    const plain = resultOf([image]);
    const result = { ...plain, content: [{ ...image, data: BASE64 }] } as unknown as ToolResult;
    for (const format of ['native', 'anthropic', 'openai-responses', 'gemini'] as const) {
      expect(written(format, result)).toEqual(written(format, plain));
    }
  });
});

const BASE = { callId: 'c', toolName: 't', truncated: false, executionTimeMs: 1, metadata: {} };

function failure(message: string, output = ''): ToolResult {
  return { ...BASE, success: false, output, error: { code: 'execution_failed', message } };
}

describe('toModelText()', () => {
  it('is the output, or says that there was none', () => {
    expect(toModelText({ ...BASE, success: true, output: ' x\n' })).toBe(' x\n');
    expect(toModelText({ ...BASE, success: true, output: '' })).toBe('(no output)');
  });

  it('is the error, then the kept output after a blank line', () => {
    expect(toModelText(failure('boom'))).toBe('Error: boom');
    expect(toModelText(failure('exit code 1', '2 failing\n'))).toBe('Error: exit code 1\n\n2 failing\n');
  });

  it('is a JSON object alone and untouched', () => {
    const json = ' {"error": {"a" : 1}}\n';
    expect(toModelText(failure(json, 'kept'))).toBe(json);
  });

  it.each(['{broken', '[1]', '"text"', 'null', '42', '{"a":1} and more'])(
    'prefixes %j, which is not a JSON object',
    (message) => {
      expect(toModelText(failure(message))).toBe(`Error: ${message}`);
    },
  );
});
