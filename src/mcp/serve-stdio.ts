import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

/** Of one message. Arguments may hold whole files. */
const MOST_BYTES = 64 * 1024 * 1024;

export interface StdioConnection {
  /** The client has closed its end, or `close` has ended ours. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on standard input and output, in the revision that it begins with. Standard output carries the protocol
 * and nothing else from now on.
 * @param report problems that no answer tells
 */
export function serveOverStdio(create: () => Server, report: (problem: Error) => void): StdioConnection {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  class WatchedTransport extends StdioServerTransport {
    override async close(): Promise<void> {
      await super.close();
      end();
    }
  }
  const transport = new WatchedTransport(undefined, undefined, { maxBufferSize: MOST_BYTES });
  const connection = serveStdio(create, { transport, onerror: report });
  return { ended, close: () => connection.close() };
}
