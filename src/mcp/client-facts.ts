import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { TraceContext } from '../contract/telemetry.js';

export interface Client {
  /** Characters that are safe in a conversation's name. */
  readonly name: string;
  readonly capabilities: ClientCapabilities;
}

/** A client's description of itself: sent with each request, or once per connection. */
export function clientOf(
  { mcpReq: { envelope } }: ServerContext,
  legacy: () => {
    readonly capabilities: ClientCapabilities | undefined;
    readonly info: Implementation | undefined;
  },
): Client {
  // The SDK has checked it, but does not declare types for its keys.
  const said = envelope as Partial<Record<string, ClientCapabilities & Implementation>> | undefined;
  const declared = said?.[CLIENT_CAPABILITIES_META_KEY];
  const { capabilities, info } =
    declared === undefined ? legacy() : { capabilities: declared, info: said?.[CLIENT_INFO_META_KEY] };
  return { name: plainName(info?.name), capabilities: capabilities ?? {} };
}

function plainName(name: string | undefined): string {
  const plain = (name ?? '').replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 64);
  return plain === '' ? 'client' : plain;
}

/** Keys under which clients send the model's id of the call: a retry has the same id. */
const ID_KEYS = ['claudecode/toolUseId', 'callId', 'toolexec/callId'];
/** Every journal stores such an id as it is, and a person can type it. */
const PLAIN_ID = /^[\x20-\x7e]{1,256}$/;

/**
 * The client's id of the call; of a longer or odd one, a digest, so that a retry has the same. The id of a request differs for
 * each attempt.
 */
export function ownCallId({ mcpReq: { _meta = {} } }: ServerContext): string | undefined {
  const given = ID_KEYS.map((key) => (_meta as Readonly<Record<string, unknown>>)[key]);
  const id = given.find((text): text is string => typeof text === 'string' && text !== '');
  if (id === undefined || PLAIN_ID.test(id)) return id;
  return `mcp_${createHash('sha256').update(id, 'utf16le').digest('hex')}`;
}

/** The client's trace, if the request contains one. */
export function traceIn({ mcpReq: { _meta = {} } }: ServerContext): { readonly trace?: TraceContext } {
  const { traceparent, tracestate, baggage } = _meta as Partial<Record<keyof TraceContext, unknown>>;
  if (typeof traceparent !== 'string') return {};
  return {
    trace: {
      traceparent,
      ...(typeof tracestate === 'string' ? { tracestate } : {}),
      ...(typeof baggage === 'string' ? { baggage } : {}),
    },
  };
}
