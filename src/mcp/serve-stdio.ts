import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { openInputLines } from '../platform/runtime/input-lines.js';

/** The limit of one message. Arguments may contain whole files. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Calls back when the tools have changed. @returns what ends that */
export type OnChange = (listener: () => void) => () => void;

export interface StdioConnection {
  /** The client has closed its end, or `close` has ended ours. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on standard input and output, in the revision of its first message. From now on, standard
 * output carries only the protocol.
 * @param report gets problems that appear in no answer
 * @param onChange called when the tools have changed; the client is notified
 * @param onSent called when a message has left
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
  // The first may be one for a probe alone.
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
    // One that has not begun yet hears of it with its first list.
    for (const server of created) server.sendToolListChanged().catch(() => {});
  });
  return { ended: ended.finally(forget), close: () => connection.close() };
}

/** A line that is JSON and no message: the SDK reports all that its schema expects. */
function inOneLine(problem: Error): Error {
  if (!problem.name.endsWith('ZodError')) return problem;
  return new Error('A line from the client is no message of the protocol.', { cause: problem });
}
