import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { resultContent } from './result-content.js';

const COMMON = { callId: 'c', toolName: 't', truncated: false, executionTimeMs: 1, metadata: {} };
const text: ToolResult = { ...COMMON, success: true, output: 'fine' };
const failed: ToolResult = {
  ...COMMON,
  success: false,
  output: 'log',
  error: { code: 'execution_failed', message: 't failed', details: { executed: 'yes' } },
};
const picture: ToolResult = {
  ...COMMON,
  success: true,
  output: 'a chart',
  content: [
    { type: 'image', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) },
    { type: 'resource', uri: 'file:///a/b.pdf', mediaType: 'application/pdf', data: new Uint8Array([4]) },
    { type: 'resource_link', uri: 'https://example.org', name: 'page' },
  ],
};

describe('resultContent()', () => {
  it('writes texts and failures, each host as it marks them', () => {
    expect(resultContent(text, 'ai-sdk')).toEqual({ type: 'text', value: 'fine' });
    expect(resultContent(failed, 'ai-sdk')).toEqual({ type: 'error-text', value: 'Error: t failed\n\nlog' });
    expect(resultContent(text, 'openai-agents')).toBe('fine');
    expect(resultContent(failed, 'langchain')).toBe('Error: t failed\n\nlog');
    expect(resultContent(failed, 'mastra')).toEqual({ type: 'error-text', value: 'Error: t failed\n\nlog' });
    expect(resultContent(text, 'mcp')).toEqual({ content: [{ type: 'text', text: 'fine' }] });
    expect(resultContent(failed, 'mcp')).toEqual({
      content: [{ type: 'text', text: 'Error: t failed\n\nlog' }],
      isError: true,
    });
  });

  it('keeps pictures and documents, and says in words what a host cannot send', () => {
    expect(resultContent(picture, 'ai-sdk')).toMatchObject({
      type: 'content',
      value: [
        { type: 'text', text: 'a chart' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
        { type: 'file', mediaType: 'application/pdf' },
        { type: 'text', text: expect.stringContaining('https://example.org') },
      ],
    });
    expect(resultContent(picture, 'openai-agents')).toMatchObject([
      { type: 'text' },
      { type: 'image', image: { data: 'AQID', mediaType: 'image/png' } },
      { type: 'file', file: { filename: 'b.pdf' } },
      { type: 'text' },
    ]);
    expect(resultContent(picture, 'langchain')).toMatchObject([
      { type: 'text' },
      { type: 'image', mimeType: 'image/png', data: 'AQID' },
      { type: 'file', mimeType: 'application/pdf' },
      { type: 'text' },
    ]);
    expect(resultContent(picture, 'mastra')).toMatchObject({
      type: 'content',
      value: [
        { type: 'text', text: 'a chart' },
        { type: 'media', mediaType: 'image/png', data: 'AQID' },
        { type: 'media', mediaType: 'application/pdf' },
        { type: 'text' },
      ],
    });
    expect(resultContent(picture, 'mcp').content).toMatchObject([
      { type: 'text', text: 'a chart' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///a/b.pdf', blob: 'BA==' } },
      { type: 'resource_link', uri: 'https://example.org', name: 'page' },
    ]);
  });

  it('refuses an unknown host', () => {
    expect(() => resultContent(text, 'other' as 'mcp')).toThrow(
      'Known: ai-sdk, openai-agents, langchain, mastra, mcp',
    );
  });
});
