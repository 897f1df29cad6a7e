import { isMainThread } from 'node:worker_threads';
import { startHeld } from './hold-orphans.js';
import { type ProcessStart, type StartedProcess, spawnProcess } from './spawn.js';
import { openSpawnServer, type ProcessAhead, type SpawnServer } from './spawn-server.js';

/**
 * Starts a program in a session of its own: through a small process beside us, once that has
 * come to be worth its start.
 * @throws the system's error (with `code`) when it cannot be started.
 */
export function startProcess(start: ProcessStart): Promise<StartedProcess> {
  // The server hands out names of open files, and a pipe to us has none. It has no terminal either.
  if (start.input === 'pipe' || start.attached !== undefined) return spawnProcess(startHeld(start));
  started++;
  if (server === undefined && isWorthIt()) server = openServer();
  return server?.start(start) ?? spawnProcess(startHeld(start));
}

/**
 * Starts one ahead, which waits on its standard input for its order. Undefined where processes are not started through
 * the small one beside us. Rejects with the system's error.
 */
export async function startAhead(start: Omit<ProcessStart, 'input'>): Promise<ProcessAhead | undefined> {
  return server?.startAhead(start);
}

/** It starts again with the next process. One whose processes run goes on. Resolves when it is gone. */
export async function endSpawnServer(): Promise<void> {
  const ending = server;
  if (ending === undefined || !ending.isIdle()) return;
  server = undefined;
  opened--;
  await ending.end();
}

let started = 0;
let opened = 0;
let server: SpawnServer | undefined;

/** Forking costs 45 ms for each GB that we hold; starting the server costs about as much, once. */
const LARGE_BYTES = 200_000_000;
/** One that is gone is replaced a few times, not for ever. */
const MOST_SERVERS = 5;

function isWorthIt(): boolean {
  // Its pipes are of a kind that a worker cannot have, see `openPipes`.
  if (process.platform !== 'linux' || !isMainThread || opened >= MOST_SERVERS) return false;
  return started > 1 || process.memoryUsage.rss() > LARGE_BYTES;
}

function openServer(): SpawnServer {
  opened++;
  const created = openSpawnServer(() => {
    if (server === created) server = undefined;
  });
  return created;
}
