import {
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
} from '@modelcontextprotocol/server';
import canonicalize from 'canonicalize';
import { parseJson } from '../base/parse-json.js';
import type { ApprovalRequest } from '../contract/approval.js';
import type { JsonObject } from '../contract/json.js';
import { describeRequest } from '../executor/approve/describe-request.js';
import type { Client } from './client-facts.js';

/** A person's decision, as the client reports it. */
export type Decision =
  | { readonly kind: 'approve'; readonly edits?: JsonObject }
  | { readonly kind: 'deny' }
  /** The question was closed without an answer. */
  | { readonly kind: 'give_up' }
  | { readonly kind: 'again'; readonly problem?: string };

/** Whether a form can be shown. A client that names no mode accepts forms. */
export function canBeAsked({ capabilities: { elicitation } }: Client): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

const COLUMNS = 100;
/** Longer arguments are not suitable for editing in a form. */
const MOST_ARGUMENTS = 4_000;
const plain = (text: string): string => text;
const PLAIN = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

/** The terminal's picture of the call as text, and a form in which the arguments can be changed. */
export async function questionOf(
  request: ApprovalRequest,
  problem?: string,
): Promise<ElicitRequestFormParams> {
  const { drawPicture } = await import('../terminal/draw-picture.js');
  const lines = drawPicture(
    describeRequest(request),
    { ...request, number: 1 },
    {
      palette: PLAIN,
      columns: COLUMNS,
      remedy: '"toolexec waiting --json" has all of it',
    },
  );
  const above = problem === undefined ? [] : [problem, ''];
  const text = argumentsText(request);
  // Changes that were already made cannot be edited.
  const hasRun = request.changes !== undefined;
  const property = {
    type: 'string' as const,
    title: 'Arguments',
    description: 'As JSON. Change them to run it with others; leave them to run it as shown.',
    default: text,
  };
  return {
    mode: 'form',
    message: [...above, hasRun ? 'Keep what this command has changed?' : 'Run this call?', '', ...lines].join(
      '\n',
    ),
    requestedSchema: {
      type: 'object',
      properties: hasRun || text.length > MOST_ARGUMENTS ? {} : { arguments: property },
    },
  };
}

export function askInput(question: ElicitRequestFormParams): InputRequiredResult {
  return inputRequired({ inputRequests: { approval: inputRequired.elicit(question) } });
}

function argumentsText({ args }: ApprovalRequest): string {
  return JSON.stringify(args, null, 2);
}

/** @param response from the client, not validated yet */
export function readDecision(response: unknown, request: ApprovalRequest): Decision {
  const { action, content } = isObject(response) ? response : {};
  switch (action) {
    case 'accept':
      return approvalOf(isObject(content) ? content.arguments : undefined, request);
    case 'decline':
      return { kind: 'deny' };
    case 'cancel':
      return { kind: 'give_up' };
    default:
      return { kind: 'again' };
  }
}

function approvalOf(given: unknown, request: ApprovalRequest): Decision {
  if (given === undefined || given === argumentsText(request)) return { kind: 'approve' };
  let edited: unknown;
  try {
    edited = typeof given === 'string' ? parseJson(given) : given;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'again', problem: `The arguments are not JSON: ${why}` };
  }
  if (!isObject(edited)) return { kind: 'again', problem: 'The arguments have to be one JSON object.' };
  // The same arguments in another spelling.
  if (canonicalize(edited) === canonicalize(request.args)) return { kind: 'approve' };
  return { kind: 'approve', edits: edited as JsonObject };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
