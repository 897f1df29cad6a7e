/** Identifies one delivery of one call (batch and index). Opaque; unique in a journal. */
export type CallKey = string;

/**
 * A process with an open journal: one that runs calls. The id is that of the open journal; the process is
 * identified by its process id and its start time, because process ids are reused.
 */
export interface Worker {
  readonly id: string;
  readonly pid: number;
  /** Milliseconds since the epoch, as exact as the system's clock. */
  readonly startedAt: number;
  /**
   * Clock ticks between the start of the machine and the start of the process, if the system reports them.
   * Changes of the clock do not affect them, so they are compared first.
   */
  readonly startTicks?: number;
  /** Identifies the boot of the machine and the process namespace in which `pid` is valid. */
  readonly system?: string;
  /**
   * The number of its session, from 1. Then it claims calls only while it renews that session; it begins the next
   * one with a higher number. If absent: its process lives as long as its claims count.
   */
  readonly epoch?: number;
}

/**
 * The claim that an answer ends. A worker: its own claim, from any of its sessions, because a call is claimed only
 * once; or a call without a claim. `queued`: only a call without a claim.
 */
export type Claimant = Pick<Worker, 'id'> | 'queued';

/** A worker that has a session. */
export type SessionWorker = Worker & { readonly epoch: number };

/** How many calls of one tenant may run at the same time, on all workers together. */
export interface RunningQuotas {
  readonly running?: number;
  /** The same limit for each tool, by name. */
  readonly tools?: Readonly<Record<string, number>>;
  /** The same limit for the calls with each label. */
  readonly labels?: Readonly<Record<string, number>>;
}

/** How many calls of one tool, with the same labels, a tenant has running on workers. */
export interface RunningCount {
  readonly tenant: string;
  readonly toolName: string;
  /** Absent if the calls have none. */
  readonly labels?: readonly string[];
  readonly count: number;
}

/** The calls without a result, counted. */
export interface OpenCounts {
  /** With a placement; those that wait for the person are left out. */
  readonly queued: number;
  /** When the oldest of them was accepted, in milliseconds since the epoch. Absent without such calls. */
  readonly oldestQueuedAt?: number;
  readonly running: number;
  /** The batches that wait for the person. */
  readonly waitingBatches: number;
}

/** The calls that a worker can run, besides those without a label or a root. */
export interface WorkerOffer {
  readonly labels?: readonly string[];
  /** Ids of roots. */
  readonly roots?: readonly string[];
  /** How long its session lasts without a renewal, in milliseconds. Default 30000. */
  readonly leaseMs?: number;
  /** It claims no call of a tenant that has as many running calls. */
  readonly quotas?: RunningQuotas;
}

/** The session of a worker. */
export interface WorkerSession extends WorkerOffer {
  readonly worker: SessionWorker;
  /**
   * The number of its renewals. A session is expired if an observer sees the same beat for the length of a lease, on
   * its own monotonic clock: the clocks of machines differ, and jump.
   */
  readonly beat: number;
  /** Milliseconds since the epoch. Present exactly if the session is over. */
  readonly endedAt?: number;
}

/** A piece of a call's output while it runs. */
export interface LiveText {
  readonly key: CallKey;
  readonly stream: 'stdout' | 'stderr';
  /** The offset in the call's whole output, in UTF-16 units. Earlier pieces may be missing. */
  readonly from: number;
  readonly text: string;
}

/** The answer to a renewal. */
export interface Renewal {
  readonly beat: number;
  /** Calls that this worker runs and that were cancelled elsewhere. */
  readonly cancelled: readonly CallKey[];
}

/** Which workers may run the calls of a batch, and until when they may start. */
export interface Placement {
  /** Only a worker that offers all of them. */
  readonly labels?: readonly string[];
  /** The id of a root: only a worker that offers it. */
  readonly root?: string;
  /** How long after its acceptance, or its approval, a call may still start. */
  readonly startDeadlineMs?: number;
  /** Among a tenant's calls, those with a higher number are handed out first. Default 0. */
  readonly priority?: number;
  /** The tenant that owns the calls, if several tenants share the journal. If absent: the tenant of the journal. */
  readonly tenant?: string;
  /** No worker with a session claims a call while its tenant has as many running calls. */
  readonly quotas?: RunningQuotas;
  /** Time limit of each call in milliseconds, which overrides every other one. */
  readonly timeoutMs?: number;
  /** The calls were accepted without a plan: the worker that takes one evaluates it and defers it if it needs approval. */
  readonly unplanned?: true;
  /** The host asks no question, on purpose (`approver: null`): unexpected changes of a command are kept, too. */
  readonly unasked?: true;
}
