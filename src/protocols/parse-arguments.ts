import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { AskedCall, RawCall } from './raw-call.js';

/** Arguments that came as JSON text: parsed strictly, never mended. Other values pass for `settleCall` to judge. */
export function parseArguments(call: AskedCall): RawCall {
  if (typeof call.args !== 'string') return call;
  if (call.args.trim() === '') return { ...call, args: undefined };
  try {
    return { ...call, args: parseJson(call.args) };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return { id: call.id, name: call.name, problem: `"${call.argsField}" is no valid JSON: ${error.detail}` };
  }
}
