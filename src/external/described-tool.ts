import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ExternalToolChange } from '../contract/external.js';
import type { Description } from './describe-program.js';

/** A program and its description. Never changed, only replaced. */
export interface DescribedTool {
  readonly name: string;
  readonly path: string;
  /** Whether its declared effects are believed. */
  readonly trusted: boolean;
  /** Identifies the file that described itself; undefined if it was not started. */
  readonly print: string | undefined;
  readonly description: Description;
  /** The parts that have changed since approval. */
  readonly changed: readonly ExternalToolChange[];
}

/** A person's approval of a tool: a hash of each part of its description. */
export type Approval = Readonly<Record<ExternalToolChange, string>>;

/** Undefined for a program without a description, because there is nothing to approve. */
export function approvalOf(description: Description): Approval | undefined {
  if (description.status !== 'ready') return undefined;
  const { document } = description;
  return {
    description: fingerprint([document.title ?? '', document.description]),
    'input schema': fingerprint(document.inputSchema),
    'output schema': fingerprint(document.outputSchema),
    effects: fingerprint([document.effects ?? null, document.idempotent]),
  };
}

/** The parts that differ from the approved ones. */
export function changesSince(approved: Approval, now: Approval): readonly ExternalToolChange[] {
  return PARTS.filter((part) => approved[part] !== now[part]);
}

const PARTS: readonly ExternalToolChange[] = ['description', 'input schema', 'output schema', 'effects'];

function fingerprint(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}
