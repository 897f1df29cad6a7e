import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { toBase64 } from '../base/base64.js';
import type { Executor } from '../contract/executor.js';
import { isToolError } from '../errors/tool-error.js';

/** Clients accept no more in one answer; a tool can read any part of the file. */
const MOST_BYTES = 32 * 1024 * 1024;

/** The whole output to which a result linked. The conversation's model has seen it then. @throws ProtocolError */
export async function readOutput(
  uri: string,
  executor: Executor,
  conversation: string,
): Promise<ReadResourceResult> {
  let bytes: Uint8Array;
  try {
    bytes = await executor.readOutput(uri, { length: MOST_BYTES + 1, conversation });
  } catch (error) {
    if (isToolError(error)) throw new ResourceNotFoundError(uri, error.message);
    throw error;
  }
  if (bytes.length > MOST_BYTES) {
    const message = `Cannot send "${uri}": it is larger than ${MOST_BYTES} bytes. Read a part of it with read_file, which takes it as a path.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const text = asText(bytes);
  const content = text === undefined ? { blob: toBase64(bytes) } : { text };
  const mimeType = text === undefined ? 'application/octet-stream' : 'text/plain';
  return { contents: [{ uri, mimeType, ...content }] };
}

function asText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
