import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ItemOrigin } from './call-origin.js';

/** A call as it appears in a format, before any check. */
export type RawCall = AskedCall | TextCall | BrokenCall;

export interface AskedCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly args: unknown;
  /** The format's name for the arguments: `args`, `input`, … */
  readonly argsField: string;
  readonly reason?: unknown;
  readonly origin?: ItemOrigin;
}

/** A call with free text in place of arguments. */
export interface TextCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly text: unknown;
  readonly origin?: ItemOrigin;
}

/** A call whose arguments cannot be read. */
export interface BrokenCall {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly problem: string;
  /** It has no end. */
  readonly unfinished?: true;
  readonly origin?: ItemOrigin;
}

/**
 * Parses arguments that came as JSON text, strictly and without repair. Other values pass: `resolveCall`
 * checks them.
 */
export function parseArguments(call: AskedCall): RawCall {
  if (typeof call.args !== 'string') return call;
  if (call.args.trim() === '') return { ...call, args: undefined };
  try {
    return { ...call, args: parseJson(call.args) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return {
      id: call.id,
      name: call.name,
      problem: `"${call.argsField}" is not valid JSON: ${error.detail}`,
    };
  }
}
