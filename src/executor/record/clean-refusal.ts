import type { ToolFailure } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { cleanOutput } from '../../output/clean-output.js';
import type { EngineSettings } from '../settings.js';
import { cleanJson } from './clean-json.js';

/** A refusal quotes what the model sent: neutralised, redacted and cut like everything that is shown (D079). */
export function cleanRefusal(result: ToolFailure, settings: EngineSettings): ToolFailure {
  const { error } = result;
  const { maxOutputBytes: maxBytes, secretValues: values } = settings;
  const { text, truncated } = cleanOutput(error.message, { maxBytes, values });
  const details = cleanDetails(error.details, values);
  const hint = error.hint === undefined ? undefined : cleanOutput(error.hint, { maxBytes, values }).text;
  if (text === error.message && details === error.details && hint === error.hint) return result;
  return {
    ...result,
    error: {
      ...error,
      message: text,
      ...(hint === undefined ? {} : { hint }),
      ...(details === undefined ? {} : { details }),
    },
    truncated: result.truncated || truncated,
  };
}

function cleanDetails(details: JsonObject | undefined, values: readonly string[]): JsonObject | undefined {
  // Most say only that nothing was executed.
  if (details === undefined || Object.keys(details).length < 2) return details;
  const uncut = { maxBytes: Number.POSITIVE_INFINITY, values };
  return cleanJson(details, (text) => cleanOutput(text, uncut).text);
}
