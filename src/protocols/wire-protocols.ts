import { ToolError } from '../errors/tool-error.js';
import { anthropicProtocol } from './anthropic/anthropic-protocol.js';
import { fencedProtocol } from './fenced/fenced-protocol.js';
import { geminiProtocol } from './gemini/gemini-protocol.js';
import { nativeProtocol } from './native/native-protocol.js';
import { openaiProtocol } from './openai/openai-protocol.js';
import { openaiResponsesProtocol } from './openai-responses/openai-responses-protocol.js';
import type { WireFormat } from './wire-format.js';
import type { WireProtocol } from './wire-protocol.js';

/** Every format, once. */
export const WIRE_PROTOCOLS: { readonly [F in WireFormat]: WireProtocol<F> } = {
  openai: openaiProtocol,
  'openai-responses': openaiResponsesProtocol,
  gemini: geminiProtocol,
  anthropic: anthropicProtocol,
  native: nativeProtocol,
  fenced: fencedProtocol,
};

/** @throws ToolError `config_invalid` for what is no format. */
export function protocolOf<F extends WireFormat>(format: F): WireProtocol<F> {
  if (Object.hasOwn(WIRE_PROTOCOLS, format)) return WIRE_PROTOCOLS[format];
  const known = Object.keys(WIRE_PROTOCOLS).join(', ');
  throw new ToolError(
    'config_invalid',
    `There is no wire format ${JSON.stringify(format)}. Known: ${known}.`,
  );
}

/** What is marked most clearly is asked first. */
export const RECOGNITION_ORDER: readonly WireFormat[] = [
  'openai',
  'openai-responses',
  'gemini',
  'anthropic',
  'native',
  'fenced',
];
