import { createHash } from 'node:crypto';
import {
  createRequestStateCodec,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import canonicalize from 'canonicalize';
import type { ShownFile } from '../contract/approval.js';
import { stateKey } from './own-secrets.js';

/**
 * The state that a client keeps for the server while its person decides. It is signed, and contains only facts that the
 * person is shown.
 */
export interface AskedState {
  readonly batch: string;
  readonly callId: string;
  readonly conversation: string;
  /** SHA-256 of the tool's name and arguments: consent to one call is not consent to another. */
  readonly digest: string;
  /** The contents that the person saw. */
  readonly shown: readonly ShownFile[];
}

/** The same for a running call that asks: its question exists only in this process. */
export interface RunningState extends Omit<AskedState, 'batch' | 'shown'> {
  /** The name of the question. */
  readonly running: string;
}

export type CarriedState = AskedState | RunningState;

export interface RequestStates {
  mint(state: CarriedState): Promise<string>;
  /** For the SDK. @throws Error for a state that was not signed here, or is too old */
  readonly verify: (state: string, context: ServerContext) => Promise<CarriedState>;
}

/** A person may answer the next day. The journal ensures that a state is used once: a batch is decided once. */
const VALID_SECONDS = 24 * 3600;

/**
 * Signed with a key that outlives the process, because an answer may come after a restart. Nothing is opened before it
 * is needed.
 */
export function requestStates(): RequestStates {
  let codec: RequestStateCodec<CarriedState> | undefined;
  const own = (): RequestStateCodec<CarriedState> => {
    codec ??= createRequestStateCodec<CarriedState>({ key: stateKey(), ttlSeconds: VALID_SECONDS });
    return codec;
  };
  return { mint: (state) => own().mint(state), verify: (state, context) => own().verify(state, context) };
}

export function callDigest(name: string, args: unknown): string {
  return createHash('sha256')
    .update(canonicalize([name, args]) ?? '')
    .digest('hex');
}
