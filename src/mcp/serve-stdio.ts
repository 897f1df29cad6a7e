import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { openInputLines } from '../platform/runtime/input-lines.js';
import { OpenRequests } from './open-requests.js';

/** The maximum size of one message. Arguments may contain whole files. */
const MOST_BYTES = 64 * 1024 * 1024;
/** How long a client that has ended its input may wait for answers. Then its calls are cancelled. */
const LAST_ANSWERS_MS = 5_000;

export interface StdioConnection {
  /** The client has closed its end of the connection, or `close` has ended ours. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on standard input and output, in the revision of its first message. From now on, standard
 * output carries only the protocol. A client that ends its input still gets the answers to its requests.
 * @param report receives problems that no answer contains
 * @param onSent called when a message was sent
 */
export function serveOverStdio(
  create: () => Server,
  report: (problem: Error) => void,
  onSent: () => void = () => {},
): StdioConnection {
  const requests = new OpenRequests();
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  class WatchedTransport extends StdioServerTransport {
    override async send(message: JSONRPCMessage): Promise<void> {
      await super.send(message);
      requests.sent(message);
      onSent();
    }

    override async close(): Promise<void> {
      await super.close();
      requests.close();
      input.close();
      end();
    }
  }
  const input = openInputLines(MOST_BYTES, () => requests.answered(LAST_ANSWERS_MS));
  const transport = new WatchedTransport(input.stream, undefined, { maxBufferSize: MOST_BYTES });
  const connection = serveStdio(create, { transport, onerror: (problem) => report(inOneLine(problem)) });
  const { onmessage } = transport;
  transport.onmessage = (message) => {
    requests.received(message);
    onmessage?.(message);
  };
  return { ended, close: () => connection.close() };
}

/** A line that is JSON but not a message: the SDK would report everything that its schema expects. */
function inOneLine(problem: Error): Error {
  if (!problem.name.endsWith('ZodError')) return problem;
  return new Error('A line from the client is not a message of the protocol.', { cause: problem });
}
