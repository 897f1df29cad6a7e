import { type Apart, type ApartName, runApart } from './apart.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type RoundOptions } from './measure.js';
import { checkResults, noOpCalls, noOpTool } from './no-op.js';
import { PEER_NAMES, PEERS, type PeerName } from './peers/open-peer.js';
import { type Goal, type Row, toRow } from './row.js';

/** Two milliseconds of work and more, for each of them: less would measure the clock, more meets other programs. */
const OUR_CALLS = 2_000;
const FLOOR_CALLS = 40_000;

// The floors as measured on a quiet machine.
const ONE: Goal = { of: 'ours', atMost: 10, whereBesideIs: 0.19 };
const MANY: Goal = { of: 'ours', atMost: 5, whereBesideIs: 0.32 };
/** A conversation more costs its entry in a table, which the processor's caches hold no longer. */
const NO_SLOWER: Goal = { of: 'ratio', atMost: 1.25 };

/** The whole of `executor.run`, beside the floor and the peers. */
export async function measureCall(scale: Scale): Promise<readonly Row[]> {
  const executor = toolexec.createExecutor({
    tools: [noOpTool()],
    limits: { maxToolCallsPerBatch: 1_000 },
  });
  const ours = (size: number): Contender => {
    const calls = noOpCalls(size);
    const batches = Math.ceil(OUR_CALLS / size);
    return {
      units: batches * size,
      async run() {
        for (let done = 0; done < batches; done++) checkResults(await executor.run(calls), size);
      },
    };
  };
  /** Calls with ids of their own, in turns in so many conversations. */
  const among = (count: number): Contender => {
    const names = Array.from({ length: count }, (_, index) => `conversation ${count}.${index}`);
    let asked = 0;
    return {
      units: OUR_CALLS,
      async run() {
        for (let done = 0; done < OUR_CALLS; done++) {
          const conversation = names[asked % count] as string;
          checkResults(await executor.run(noOpCalls(1, `${asked++}`), { conversation }), 1);
        }
      },
    };
  };
  const rounds = scale === 'quick' ? { rounds: 3, warmUps: 1 } : { rounds: 60, warmUps: 15 };
  const rows = [...(await besideFloor(ours, rounds)), await besideOneConversation(among, rounds)];
  for (const name of PEER_NAMES) rows.push(...(await besidePeer(name, ours, rounds)));
  await executor.close();
  return rows;
}

type Ours = (size: number) => Contender;

function besideFloor(ours: Ours, rounds: RoundOptions): Promise<readonly Row[]> {
  return beside('floor', 'floor', async (floor) => {
    const { one, eight, thousand, theirOne, theirEight } = await interleave(
      { one: ours(1), eight: ours(8), thousand: ours(1_000), ...contenders(floor, FLOOR_CALLS) },
      rounds,
    );
    const many = { computing: true, goal: MANY };
    return [
      toRow('one at a time', one, ['floor', theirOne], { computing: true, goal: ONE }),
      toRow('in batches of 8', eight, ['floor, 8 at once', theirEight], many),
      toRow('in batches of 1,000', thousand, ['floor, 8 at once', theirEight], many),
    ];
  });
}

async function besideOneConversation(
  among: (count: number) => Contender,
  rounds: RoundOptions,
): Promise<Row> {
  const { thousand, one } = await interleave({ thousand: among(1_000), one: among(1) }, rounds);
  const what = 'one at a time, among 1,000 conversations';
  return toRow(what, thousand, ['in one conversation', one], { computing: true, goal: NO_SLOWER });
}

function besidePeer(name: PeerName, ours: Ours, rounds: RoundOptions): Promise<readonly Row[]> {
  const { title, calls } = PEERS[name];
  return beside(name, title, async (peer) => {
    const { one, eight, theirOne, theirEight } = await interleave(
      { one: ours(1), eight: ours(8), ...contenders(peer, calls) },
      rounds,
    );
    return [
      toRow('one at a time', one, [title, theirOne], { computing: true }),
      toRow('in batches of 8', eight, [`${title}, 8 at once`, theirEight], { computing: true }),
    ];
  });
}

async function beside(
  name: ApartName,
  title: string,
  measure: (apart: Apart) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const apart = await runApart(name);
  if ('skipped' in apart) {
    return [{ what: 'one at a time', unit: 'µs', beside: { name: title, skipped: apart.skipped } }];
  }
  try {
    return await measure(apart);
  } finally {
    apart.close();
  }
}

function contenders({ contender }: Apart, calls: number): { theirOne: Contender; theirEight: Contender } {
  return { theirOne: contender({ calls, together: 1 }), theirEight: contender({ calls, together: 8 }) };
}
