import type { ApartAnswer, ApartTask } from './apart.js';
import { floorCall } from './floor-call.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { openMcp } from './peers/open-mcp.js';

/* A floor or a peer, named by the first argument, for `apart.ts`: makes as many calls as it is told to. */

const opened = await open(process.argv[2]);
if ('skipped' in opened) {
  answer(opened);
} else {
  const { call } = opened;
  process.on('message', (task) => {
    void work(call, task as ApartTask);
  });
  answer({ ready: true });
}

async function open(
  name: string | undefined,
): Promise<{ call(args: object): Promise<unknown> } | { readonly skipped: string }> {
  if (name === 'floor') return { call: floorCall() };
  if (name === 'mcp') return openMcp();
  throw new Error(`Cannot run "${name}" apart: choose floor or mcp.`);
}

async function work(call: (args: object) => Promise<unknown>, { calls, together }: ApartTask): Promise<void> {
  for (let done = 0; done < calls; done += together) {
    if (together === 1) await call(NO_OP_ARGS);
    else await Promise.all(Array.from({ length: together }, () => call(NO_OP_ARGS)));
  }
  const { user, system } = process.cpuUsage();
  answer({ cpuUs: user + system });
}

function answer(message: ApartAnswer): void {
  process.send?.(message);
}
