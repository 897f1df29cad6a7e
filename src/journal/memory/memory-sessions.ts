import type {
  CallKey,
  Renewal,
  SessionWorker,
  Worker,
  WorkerOffer,
  WorkerSession,
} from '../../contract/journal.js';
import type { MemoryCall } from './memory-call.js';

interface Session {
  readonly worker: SessionWorker;
  offer: WorkerOffer;
  beat: number;
  endedAt: number | undefined;
}

/** The sessions of workers in a memory journal: of each worker, by epoch. */
export class MemorySessions {
  private readonly workers = new Map<string, Map<number, Session>>();

  mayClaim({ id, epoch }: Worker): boolean {
    if (epoch === undefined) return true;
    const session = this.workers.get(id)?.get(epoch);
    return session !== undefined && session.endedAt === undefined;
  }

  offerOf({ id, epoch = 0 }: Worker): WorkerOffer | undefined {
    return this.workers.get(id)?.get(epoch)?.offer;
  }

  /** @param calls unfinished ones */
  renew(
    worker: SessionWorker,
    at: number,
    offer: WorkerOffer,
    calls: Iterable<MemoryCall>,
  ): Renewal | undefined {
    const session = this.workers.get(worker.id)?.get(worker.epoch) ?? this.begin(worker, at);
    if (session === undefined || session.endedAt !== undefined) return undefined;
    session.beat++;
    session.offer = offer;
    const cancelled: CallKey[] = [];
    for (const call of calls) if (runsIn(call, session) && isCancelled(call)) cancelled.push(call.key);
    return { beat: session.beat, cancelled };
  }

  private begin(worker: SessionWorker, at: number): Session | undefined {
    const known = this.workers.get(worker.id) ?? new Map<number, Session>();
    for (const session of known.values()) {
      if (session.worker.epoch > worker.epoch) return undefined;
      session.endedAt ??= at;
    }
    const session: Session = { worker, offer: {}, beat: 0, endedAt: undefined };
    known.set(worker.epoch, session);
    this.workers.set(worker.id, known);
    return session;
  }

  /** @param calls unfinished ones */
  reap(
    { id, epoch }: Pick<SessionWorker, 'id' | 'epoch'>,
    beat: number,
    at: number,
    calls: Iterable<MemoryCall>,
  ): readonly MemoryCall[] | undefined {
    const session = this.workers.get(id)?.get(epoch);
    if (session === undefined || (session.endedAt === undefined && session.beat !== beat)) return undefined;
    session.endedAt ??= at;
    return [...calls].filter((call) => this.holds(session, call));
  }

  /** @param calls unfinished ones */
  list(calls: readonly MemoryCall[]): readonly WorkerSession[] {
    const all = [...this.workers.values()].flatMap((known) => [...known.values()]);
    return all
      .filter((session) => session.endedAt === undefined || calls.some((call) => this.holds(session, call)))
      .map(({ worker, offer, beat, endedAt }) => ({
        ...offer,
        worker,
        beat,
        ...(endedAt === undefined ? {} : { endedAt }),
      }));
  }

  /** A queued call that was accepted by the worker is dead once its last session is over. */
  private holds(session: Session, call: MemoryCall): boolean {
    if (call.worker !== undefined) return runsIn(call, session);
    const { id, epoch } = session.worker;
    const isLast = Math.max(...(this.workers.get(id)?.keys() ?? [])) === epoch;
    return isLast && call.batch.entry.worker?.id === id;
  }

  clear(): void {
    this.workers.clear();
  }
}

function runsIn({ worker }: MemoryCall, session: Session): boolean {
  return worker?.id === session.worker.id && worker.epoch === session.worker.epoch;
}

function isCancelled({ notes }: MemoryCall): boolean {
  return notes?.some(({ kind }) => kind === 'cancel') === true;
}
