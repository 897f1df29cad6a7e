import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { terminate } from './spawn-helper.js';

/** A process that keeps a network namespace alive. */
export interface RoomKeeper {
  /** The pid of a process in the namespace, as this process sees it. */
  readonly pid: number;
  readonly isAlive: () => boolean;
  /** Resolves when the process has ended. */
  end(): Promise<void>;
}

/**
 * Starts bubblewrap with a program that prints a line and waits for the end of its input. Its input ends when
 * this process ends, even by SIGKILL. It does not keep this process running.
 * @param args arguments for bubblewrap, which reports its child on descriptor 3
 * @returns a message saying why there is no keeper, if there is none
 */
export async function startRoomKeeper(file: string, args: readonly string[]): Promise<RoomKeeper | string> {
  const child = spawn(file, args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  const gone = new Promise<undefined>((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('exit', () => resolve(undefined));
  });
  const [, stdout, stderr, info] = child.stdio;
  const said = collect(stderr);
  const ready = Promise.all([firstMatch(info, /"child-pid": (\d+)/), firstMatch(stdout, /(.)\n/)]);
  const late = AbortSignal.timeout(LIMIT_MS);
  const tooLate = new Promise<undefined>((resolve) => {
    late.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const [pid] = (await Promise.race([ready, gone, tooLate])) ?? [];
  if (pid === undefined) {
    await terminate(child);
    return said().trim().split('\n').at(-1) || 'it ends at once';
  }
  leaveAlone(child);
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  return { pid: Number(pid), isAlive, end: () => terminate(child) };
}

const LIMIT_MS = 5000;

function collect(stream: unknown): () => string {
  let text = '';
  if (stream instanceof Readable) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-4096);
    });
  }
  return () => text;
}

/**
 * The first group of the first match of `pattern`. The promise stays pending if the stream ends without a
 * match.
 */
function firstMatch(stream: unknown, pattern: RegExp): Promise<string> {
  return new Promise((resolve) => {
    if (!(stream instanceof Readable)) return;
    let text = '';
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [, found] = pattern.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}

function leaveAlone(child: ChildProcess): void {
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
  child.unref();
}

/** How often the network namespace of a process has refused something since it was made. */
export interface NetworkCounts {
  /** Packets and connections to addresses without a route. */
  readonly noRoute: number;
  /** IPv6 datagrams to a port on which nothing listens. */
  readonly noPort6: number;
}

export interface NetworkCounters {
  /** Undefined if they cannot be read. */
  read(): NetworkCounts | undefined;
  close(): void;
}

/** The counters stay open: opening them takes ten times as long as reading them. */
export function openNetworkCounters(pid: number): NetworkCounters {
  const files = ['snmp', 'snmp6'].map((name) => openOptional(`/proc/${pid}/net/${name}`));
  return {
    read() {
      const [ip, ip6 = ''] = files.map((file) => (file === undefined ? undefined : readFromStart(file)));
      if (ip === undefined) return undefined;
      const noRoute = fieldOf(ip, 'Ip:', 'OutNoRoutes') + numberAfter(ip6, 'Ip6OutNoRoutes');
      return { noRoute, noPort6: numberAfter(ip6, 'Udp6NoPorts') };
    },
    close() {
      for (const file of files.splice(0)) if (file !== undefined) closeSync(file);
    },
  };
}

/** A kernel without IPv6 has no `snmp6`. */
function openOptional(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

const buffer = Buffer.allocUnsafe(32 * 1024);

function readFromStart(file: number): string | undefined {
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return undefined;
  }
}

/** Whether the network namespace of a process has `::1`. */
export function hasLoopback6(pid: number): boolean {
  try {
    return /^0{31}1 /m.test(readFileSync(`/proc/${pid}/net/if_inet6`, 'latin1'));
  } catch {
    return false;
  }
}

/** Whether the kernel has IPv6. */
export function hasIp6(): boolean {
  return existsSync('/proc/net/if_inet6');
}

/**
 * Reads a field from two lines that begin with `group`: the first line has the names, the second the numbers.
 */
function fieldOf(text: string, group: string, name: string): number {
  const [names = '', numbers = ''] = text.split('\n').filter((line) => line.startsWith(group));
  return Number(numbers.split(' ')[names.split(' ').indexOf(name)] ?? 0);
}

function numberAfter(text: string, name: string): number {
  const at = text.indexOf(`${name} `);
  return at === -1 ? 0 : Number.parseInt(text.slice(at + name.length), 10);
}
