import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import { providerOf, type WireFormat } from './registry.js';
import { isRecord } from './unknown-value.js';

/** The content of an assistant's message besides its calls. */
export interface AssistantMessage {
  readonly text: string;
  readonly model?: string;
  readonly provider?: string;
}

/**
 * The text of a response and its model, if the response names it (D081). Undefined without text, and for a
 * recorded stream.
 * @param input a provider's object or its JSON text; prose with fenced blocks
 */
export function readMessage(format: WireFormat, input: unknown): AssistantMessage | undefined {
  const provider = providerOf(format);
  const value = typeof input !== 'string' || provider.recognizes(input) ? input : parse(input);
  const text = provider.textOf(value).trim();
  if (text === '') return undefined;
  const model = isRecord(value) ? (value.model ?? value.modelVersion) : undefined;
  const { vendor } = provider;
  return {
    text,
    ...(typeof model === 'string' ? { model } : {}),
    ...(vendor === undefined ? {} : { provider: vendor }),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}
