import { startHeld } from './hold-orphans.js';
import { PrewarmedShells } from './prewarmed-shells.js';
import { type ProcessStart, readsNamedPipes, type StartedProcess, spawnProcess } from './spawn.js';
import { type ProcessAhead, SpawnServer } from './spawn-server.js';

/**
 * Starts a program in a new session: through the spawn server, as soon as that is worth its start.
 * @throws the system's error (with `code`) if it cannot be started
 */
export async function startProcess(start: ProcessStart): Promise<StartedProcess> {
  // The server passes open files by name, and a pipe to us has none. It has no terminal either.
  if (start.input === 'pipe' || start.attached !== undefined) return spawnProcess(startHeld(start));
  started++;
  if (server === undefined && isWorthIt()) server = openServer();
  if (start.holdsOrphans !== true) return server?.start(start) ?? spawnProcess(startHeld(start));
  const process = shells.take(start) ?? (await (server?.start(start) ?? spawnProcess(startHeld(start))));
  void process.ended.then(() => shells.refill(start));
  return process;
}

const shells = new PrewarmedShells(startAhead);

/**
 * Starts a process that waits on its standard input for its order. Undefined if the spawn server is not in
 * use. Rejects with the system's error.
 */
export async function startAhead(start: Omit<ProcessStart, 'input'>): Promise<ProcessAhead | undefined> {
  return server?.startAhead(start);
}

/**
 * The server starts again with the next process. It stays while its processes run. Resolves when it is gone.
 */
export async function endSpawnServer(): Promise<void> {
  const ending = server;
  if (ending === undefined || !ending.isIdle()) return;
  server = undefined;
  opened--;
  shells.dropAll();
  await ending.end();
}

let started = 0;
let opened = 0;
let server: SpawnServer | undefined;

/** A server that has ended is replaced only a few times. */
const MOST_SERVERS = 5;

function isWorthIt(): boolean {
  // A program that starts only one process has no use for it.
  return started > 1 && opened < MOST_SERVERS && readsNamedPipes();
}

function openServer(): SpawnServer {
  opened++;
  const created = new SpawnServer(() => {
    if (server === created) server = undefined;
  });
  return created;
}
