import type { ApartAnswer, ApartTask } from './apart.js';
import { countBytes } from './count-bytes.js';
import { floorCall } from './floor-call.js';
import { NO_OP_ARGS } from './no-op-input.js';
import { isPeer, openPeer, type Peer } from './peers/open-peer.js';

/*
 * A floor or a peer for `apart.ts`, named by the first argument. The second argument is the number of calls.
 */

const opened = await open(process.argv[2]);
if ('skipped' in opened) {
  answer(opened);
} else {
  process.on('message', (task) => {
    void work(opened, task as ApartTask);
  });
  process.on('disconnect', () => process.exit());
  answer({ ready: true });
}

async function open(name: string | undefined): Promise<Peer | { readonly skipped: string }> {
  if (name === 'floor') return { call: floorCall() };
  if (isPeer(name)) return openPeer(name);
  throw new Error(`Cannot run "${name}" apart: choose floor or a peer.`);
}

async function work(peer: Peer, task: ApartTask): Promise<void> {
  if (task.together === 1) await repeat(task, () => peer.call(NO_OP_ARGS), check);
  else await repeat(task, together(peer, task.together), (outputs) => checkAll(outputs, task.together));
}

async function repeat<T>(
  task: ApartTask,
  step: () => Promise<T>,
  checkAnswer: (answer: T) => void,
): Promise<void> {
  if (task.counting !== undefined) {
    answer({ bytes: await countBytes({ ...task, scale: task.counting }, step, checkAnswer) });
    return;
  }
  for (let done = 0; done < task.calls; done += task.together) checkAnswer(await step());
  const { user, system } = process.cpuUsage();
  answer({ cpuUs: user + system });
}

function together(peer: Peer, size: number): () => Promise<readonly string[]> {
  const batch = Array.from({ length: size }, () => NO_OP_ARGS);
  return () => peer.callTogether?.(batch) ?? Promise.all(batch.map((args) => peer.call(args)));
}

function check(output: string): void {
  if (output !== NO_OP_ARGS.message) throw new Error(`wrong answer: ${String(output)}`);
}

function checkAll(outputs: readonly string[], size: number): void {
  if (outputs.length !== size) throw new Error(`${outputs.length} answers to ${size} calls`);
  for (const output of outputs) check(output);
}

function answer(message: ApartAnswer): void {
  process.send?.(message);
}
