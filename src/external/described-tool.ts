import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { ExternalToolChange } from '../contract/external.js';
import type { Description } from './describe-program.js';

/** A program as it was found, and what it says of itself: never changed, only replaced. */
export interface DescribedTool {
  readonly name: string;
  readonly path: string;
  /** Whether what it declares of its effects is believed. */
  readonly trusted: boolean;
  /** Of the file that described itself; undefined where it was not started. */
  readonly print: string | undefined;
  readonly description: Description;
  /** What of it has changed since it was approved. */
  readonly changed: readonly ExternalToolChange[];
}

/** What a person has approved of a tool: a hash of each part of its description. */
export type Approval = Readonly<Record<ExternalToolChange, string>>;

/** Undefined for a program that did not describe itself: there is nothing to approve. */
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

/** The parts that are not as they were approved. */
export function changesSince(approved: Approval, now: Approval): readonly ExternalToolChange[] {
  return PARTS.filter((part) => approved[part] !== now[part]);
}

const PARTS: readonly ExternalToolChange[] = ['description', 'input schema', 'output schema', 'effects'];

function fingerprint(value: unknown): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}
