import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import { isRecord, toRecords } from './is-record.js';
import type { WireFormat } from './wire-format.js';

/** What an assistant's message holds beside its calls. */
export interface AssistantMessage {
  readonly text: string;
  readonly model?: string;
  readonly provider?: string;
}

/**
 * The text of a response and the model that wrote it, as far as the response says so (FR-RES-01). Undefined where it
 * has no text, and in a recorded stream.
 * @param input a provider's object or its JSON text; prose with fenced blocks
 */
export function readMessage(format: WireFormat, input: unknown): AssistantMessage | undefined {
  const value = format === 'fenced' ? input : toValue(input);
  const text = READERS[format](value).trim();
  if (text === '') return undefined;
  const model = isRecord(value) ? (value.model ?? value.modelVersion) : undefined;
  const provider = PROVIDERS[format];
  return {
    text,
    ...(typeof model === 'string' ? { model } : {}),
    ...(provider === undefined ? {} : { provider }),
  };
}

const PROVIDERS: Readonly<Partial<Record<WireFormat, string>>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-responses': 'openai',
  gemini: 'google',
};

const READERS: Readonly<Record<WireFormat, (value: unknown) => string>> = {
  native: () => '',
  fenced: (value) => (typeof value === 'string' ? value : ''),
  anthropic: (value) => textsOf(isRecord(value) ? value.content : value, 'text'),
  openai: (value) => contentOf(isRecord(value) ? (messageOf(value.choices) ?? value) : value),
  'openai-responses': (value) =>
    toRecords(isRecord(value) ? value.output : value)
      .filter((item) => item.type === 'message')
      .map(({ content }) => textsOf(content, 'output_text'))
      .join('\n'),
  gemini: (value) => partsOf(isRecord(value) ? (contentOfCandidate(value.candidates) ?? value) : value),
};

function toValue(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  try {
    return parseJson(input);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

function textsOf(content: unknown, type: string): string {
  if (typeof content === 'string') return content;
  const blocks = toRecords(content).filter((block) => block.type === type);
  return blocks.map(({ text }) => (typeof text === 'string' ? text : '')).join('\n');
}

function messageOf(choices: unknown): unknown {
  return toRecords(choices)[0]?.message;
}

function contentOf(message: unknown): string {
  return isRecord(message) ? textsOf(message.content, 'text') : '';
}

function contentOfCandidate(candidates: unknown): unknown {
  return toRecords(candidates)[0]?.content;
}

/** Thoughts are no part of what was said. */
function partsOf(content: unknown): string {
  const parts = isRecord(content) ? toRecords(content.parts) : [];
  return parts
    .filter(({ thought }) => thought !== true)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}
