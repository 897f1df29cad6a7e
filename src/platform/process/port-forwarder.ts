import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** A port on this machine's loopback that leads to a port in another network namespace. */
export interface PortForwarder {
  /** The port on `127.0.0.1` of this machine: the same number, if it was free. */
  readonly port: number;
  readonly isOpen: () => boolean;
  close(): Promise<void>;
}

/**
 * Opens the forwarder. Connections are accepted here and handed to a process in the other namespace, which
 * connects to its own loopback. That process ends together with this one. Neither the listener nor the
 * process keeps this program running.
 * @param enter the start of a command line that runs a program in the other namespace
 * @throws the system's error
 */
export async function openPortForwarder(enter: readonly string[], port: number): Promise<PortForwarder> {
  const line = [...enter, process.execPath, '-e', FORWARDER];
  const [file = process.execPath, ...args] = line;
  const child = spawn(file, args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    if (child.connected) child.send(port, socket, () => {});
    else socket.destroy();
  });
  try {
    const isReady = await Promise.race([once(child, 'message').then(() => true), gone.then(() => false)]);
    if (!isReady) throw new Error('the network of its conversation cannot be entered');
    await listen(server, port);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  leaveAlone(server, child);
  void gone.then(() => server.close());
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    isOpen: () => server.listening,
    async close() {
      server.close();
      child.ref();
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Listens on the same number if it is free, otherwise on any. */
async function listen(server: Server, port: number): Promise<void> {
  for (const wanted of [port, 0]) {
    server.listen(wanted, '127.0.0.1');
    try {
      await once(server, 'listening');
      return;
    } catch (error) {
      if (wanted === 0) throw error;
    }
  }
}

function leaveAlone(server: Server, child: ChildProcess): void {
  server.unref();
  child.channel?.unref();
  child.unref();
}

/** Servers listen on either loopback address. */
const FORWARDER = `
const { connect } = require('node:net');
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (port, socket) => {
  if (!socket) return;
  socket.on('error', () => socket.destroy());
  const attempt = ([host, ...others]) => {
    const target = connect({ host, port }, () => {
      socket.pipe(target).pipe(socket);
      socket.once('close', () => target.destroy());
      target.once('close', () => socket.destroy());
    });
    target.once('error', () => {
      target.destroy();
      if (target.connecting === false && others.length > 0 && target.bytesWritten === 0) attempt(others);
      else socket.destroy();
    });
    target.on('error', () => {});
  };
  attempt(['127.0.0.1', '::1']);
});
process.send('ready');
`;
