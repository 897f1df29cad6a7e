import type { ToolCall } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import type { ModelUsage } from '../contract/model.js';
import type { AssistantMessage, Model, ModelEnd, ModelEvent, ModelRequest } from '../providers/model.js';

/** The answer of a scripted model to one request. */
export interface ScriptedResponse {
  /** One piece, or several. */
  readonly text?: string | readonly string[];
  /** A missing id is generated. */
  readonly calls?: readonly (Omit<ToolCall, 'id'> & { readonly id?: string })[];
  /** Unreadable calls with their fault. */
  readonly malformed?: readonly { readonly id: string; readonly name: string; readonly message: string }[];
  readonly usage?: ModelUsage;
  readonly stopReason?: ModelEnd['stopReason'];
  /** Thrown in place of the end: the stream was cut off. */
  readonly failure?: Error;
  /** The end never comes. */
  readonly hangs?: boolean;
}

export interface ScriptedModel extends Model {
  /** All requests, in order. */
  readonly requests: readonly ModelRequest[];
}

type Script = readonly (ScriptedResponse | ((request: ModelRequest) => ScriptedResponse))[];

/**
 * A model that answers from a script, one response per request, and fails when the script ends. For tests.
 */
export function createScriptedModel(
  script: Script,
  options: Partial<Pick<Model, 'name' | 'contextTokens' | 'maxOutputTokens'>> = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    name: 'scripted',
    format: 'native',
    ...options,
    requests,
    async *stream(request) {
      const turn = requests.push(request);
      const next = script[turn - 1];
      if (next === undefined) throw new Error(`The script has ${script.length} responses, and no ${turn}.`);
      yield* play(typeof next === 'function' ? next(request) : next, turn);
    },
  };
}

async function* play(response: ScriptedResponse, turn: number): AsyncGenerator<ModelEvent, void, undefined> {
  const { text = [], calls: given = [], malformed = [], usage, failure, hangs = false } = response;
  const pieces = [text].flat();
  for (const piece of pieces) yield { type: 'text', text: piece };
  const calls = given.map((call, index) => ({ ...call, id: call.id ?? `call_${turn}_${index}` }));
  for (const call of calls) yield { type: 'call', call };
  const errors = malformed.map((error, index) => ({ ...error, index: calls.length + index }));
  for (const error of errors) yield { type: 'call_error', error };
  if (usage !== undefined) yield { type: 'usage', ...usage };
  if (hangs) await new Promise(() => {});
  if (failure !== undefined) throw failure;
  const said = pieces.join('');
  const native: JsonObject = { role: 'assistant', text: said, calls: JSON.parse(JSON.stringify(calls)) };
  const message: AssistantMessage = {
    role: 'assistant',
    text: said,
    calls,
    errors,
    id: `response_${turn}`,
    native: { format: 'native', messages: [native] },
  };
  const hasCalls = calls.length + errors.length > 0;
  yield {
    type: 'end',
    stopReason: response.stopReason ?? (hasCalls ? 'tool_calls' : 'end'),
    message,
    answer: (results) => ({
      role: 'tool',
      results,
      native: {
        format: 'native',
        messages: [{ role: 'tool', results: JSON.parse(JSON.stringify(results)) }],
      },
    }),
  };
}
