import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { openInputLines } from '../platform/runtime/input-lines.js';

/** The maximum size of one message. Arguments may contain whole files. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Registers a callback for changes of the tools. @returns the function that removes it */
export type OnChange = (listener: () => void) => () => void;

export interface StdioConnection {
  /** The client has closed its end of the connection, or `close` has ended ours. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on standard input and output, in the revision of its first message. From now on, standard
 * output carries only the protocol.
 * @param report receives problems that no answer contains
 * @param onChange called when the tools have changed; the client is notified
 * @param onSent called when a message was sent
 */
export function serveOverStdio(
  create: () => Server,
  report: (problem: Error) => void,
  onChange: OnChange = () => () => {},
  onSent: () => void = () => {},
): StdioConnection {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  class WatchedTransport extends StdioServerTransport {
    override async send(message: JSONRPCMessage): Promise<void> {
      await super.send(message);
      onSent();
    }

    override async close(): Promise<void> {
      await super.close();
      input.close();
      end();
    }
  }
  const input = openInputLines(MOST_BYTES);
  const transport = new WatchedTransport(input.stream, undefined, { maxBufferSize: MOST_BYTES });
  // The first server may exist only for a probe.
  const created: Server[] = [];
  const connection = serveStdio(
    () => {
      const server = create();
      created.push(server);
      return server;
    },
    { transport, onerror: (problem) => report(inOneLine(problem)) },
  );
  const forget = onChange(() => {
    // A client without a session yet learns of the change with its first list.
    for (const server of created) server.sendToolListChanged().catch(() => {});
  });
  return { ended: ended.finally(forget), close: () => connection.close() };
}

/** A line that is JSON but not a message: the SDK would report everything that its schema expects. */
function inOneLine(problem: Error): Error {
  if (!problem.name.endsWith('ZodError')) return problem;
  return new Error('A line from the client is no message of the protocol.', { cause: problem });
}
