import type { JsonObject, JsonValue } from '../../contract/json.js';
import { type CallPlace, takePlace } from '../http/http-api.js';
import { isJsonObject, objectIn, objectsIn, readJson, textIn } from '../json-fields.js';

type Fields = { [name: string]: JsonValue };

/**
 * Builds the calls of a message from their fragments, with every extra field of the server, such as the
 * signature of a thought.
 */
export class CallFragments {
  readonly #calls: Fields[] = [];
  readonly #current = new Map<JsonValue | undefined, Fields>();
  #legacy: Fields | undefined;

  /** @returns whether the delta belongs to a call. */
  push(delta: JsonObject): boolean {
    const fragments = objectsIn(delta.tool_calls);
    for (const { index, ...fragment } of fragments) merge(this.#callOf(index, fragment.id), fragment);
    const { function_call: legacy } = delta;
    if (isJsonObject(legacy)) {
      this.#legacy ??= {};
      merge(this.#legacy, legacy);
    }
    return fragments.length > 0 || isJsonObject(legacy);
  }

  native(places: readonly CallPlace[]): readonly JsonObject[] {
    const left = [...places];
    return this.#calls.map((call) => {
      const place = takePlace(left, call.id);
      const id = place?.id ?? textIn(call.id);
      if (isJsonObject(call.custom)) return { ...call, id, type: 'custom' };
      const { name, arguments: text } = objectIn(call.function);
      const args = place?.isBroken !== false || textIn(text).trim() === '' ? '{}' : textIn(text);
      return {
        ...call,
        id,
        type: 'function',
        function: { ...objectIn(call.function), name: textIn(name) || 'unknown', arguments: args },
      };
    });
  }

  legacy([place]: readonly CallPlace[]): JsonObject | undefined {
    if (this.#legacy === undefined) return undefined;
    const text = textIn(this.#legacy.arguments);
    const isWhole = place?.isBroken === false && isJsonObject(readJson(text));
    return { ...this.#legacy, arguments: isWhole ? text : '{}' };
  }

  /** The call of a fragment: the one with its index, unless the fragment has a new id. */
  #callOf(index: JsonValue | undefined, id: JsonValue | undefined): Fields {
    const known = this.#current.get(index);
    if (known !== undefined && (textIn(id) === '' || id === known.id)) return known;
    const call: Fields = {};
    this.#calls.push(call);
    this.#current.set(index, call);
    return call;
  }
}

/** Texts that grow in pieces; for all others the first value counts. */
const GROWING: ReadonlySet<string> = new Set(['arguments', 'input']);

function merge(whole: Fields, fragment: JsonObject): void {
  for (const [name, value] of Object.entries(fragment)) {
    const known = whole[name];
    if (GROWING.has(name)) whole[name] = textIn(known) + textIn(value);
    else if (isJsonObject(value)) {
      const inner = { ...objectIn(known) };
      merge(inner, value);
      whole[name] = inner;
    } else if (known === undefined || known === null || known === '') whole[name] = value;
  }
}
