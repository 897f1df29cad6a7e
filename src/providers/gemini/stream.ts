import type { CallAssembler } from '../provider.js';
import type { BrokenCall, RawCall } from '../raw-call.js';
import { describeValue, type Fields, isRecord, toRecords } from '../unknown-value.js';
import { callsIn, toRawCall } from './read.js';

/**
 * A chunk of the stream is a response with complete calls. On request, Vertex AI sends the arguments of a
 * call in pieces (`partialArgs`), and announces more of them with `willContinue`.
 */
export function createGeminiAssembler(): CallAssembler {
  let open: PartialCall | undefined;
  const close = (): readonly RawCall[] => {
    const left = open === undefined ? [] : [open.toUnfinished()];
    open = undefined;
    return left;
  };
  const read = (value: unknown): readonly RawCall[] => {
    const isNamed = isRecord(value) && typeof value.name === 'string' && value.name !== '';
    if (!isRecord(value) || (open === undefined && !isPartial(value))) return [...close(), toRawCall(value)];
    const before = isNamed ? close() : [];
    if (isNamed && !isPartial(value)) return [...before, toRawCall(value)];
    open ??= new PartialCall(value);
    open.extend(value);
    if (value.willContinue === true) return before;
    const whole = open.toRawCall();
    open = undefined;
    return [...before, whole];
  };
  return { push: (event) => callsIn(event).flatMap(read), end: close };
}

function isPartial({ partialArgs, willContinue }: Fields): boolean {
  return Array.isArray(partialArgs) || willContinue === true;
}

const UNFINISHED = 'the stream ended inside it. Send the call again.';

type Container = { [key: string]: unknown } | unknown[];

class PartialCall {
  readonly #call: Fields;
  readonly #args: { [key: string]: unknown };
  /** The path of the text that continues. */
  #growing: unknown;
  #problem: string | undefined;

  constructor(call: Fields) {
    this.#call = call;
    this.#args = isRecord(call.args) ? { ...call.args } : {};
  }

  extend({ partialArgs }: Fields): void {
    for (const piece of toRecords(partialArgs)) {
      const path = stepsOf(piece.jsonPath);
      if (path === undefined || !this.#put(path, piece)) {
        this.#problem ??= `a piece of its arguments stands at ${describeValue(piece.jsonPath)}, which cannot be read.`;
      }
      this.#growing = piece.willContinue === true ? piece.jsonPath : undefined;
    }
  }

  toRawCall(): RawCall {
    if (this.#problem !== undefined) {
      const { unfinished: _, ...call } = this.toUnfinished();
      return { ...call, problem: this.#problem };
    }
    return toRawCall({ ...this.#call, args: this.#args });
  }

  toUnfinished(): BrokenCall {
    const { id, name, origin } = toRawCall(this.#call);
    const more = origin === undefined ? {} : { origin };
    return { id, name, problem: UNFINISHED, unfinished: true, ...more };
  }

  #put(path: readonly (string | number)[], piece: Fields): boolean {
    let at: Container = this.#args;
    for (const [depth, step] of path.entries()) {
      if (Array.isArray(at) ? typeof step !== 'number' || step > at.length : typeof step === 'number')
        return false;
      const holder = at as { [key: string | number]: unknown };
      const next = path[depth + 1];
      if (next === undefined) {
        const known = Object.hasOwn(holder, step) ? holder[step] : undefined;
        holder[step] = partialValue(piece, piece.jsonPath === this.#growing ? known : undefined);
        return true;
      }
      if (!Object.hasOwn(holder, step)) holder[step] = typeof next === 'number' ? [] : {};
      const inner: unknown = holder[step];
      if (!isRecord(inner) && !Array.isArray(inner)) return false;
      at = inner as Container;
    }
    return false;
  }
}

function partialValue({ stringValue, numberValue, boolValue }: Fields, before: unknown): unknown {
  if (typeof stringValue === 'string') return typeof before === 'string' ? before + stringValue : stringValue;
  return numberValue ?? boolValue ?? null;
}

/** `$.files[0]["a b"]`. */
const STEP = /\.([^.[\]]+)|\[(\d{1,6})\]|\["([^"\\]*)"\]|\['([^'\\]*)'\]/y;

function stepsOf(path: unknown): readonly (string | number)[] | undefined {
  if (typeof path !== 'string' || !path.startsWith('$') || path.includes('__proto__')) return undefined;
  const steps: (string | number)[] = [];
  STEP.lastIndex = 1;
  for (let at = 1; at < path.length; at = STEP.lastIndex) {
    const [, name, index, ...quoted] = STEP.exec(path) ?? [];
    const step = index === undefined ? (name ?? quoted.find((text) => text !== undefined)) : Number(index);
    if (step === undefined) return undefined;
    steps.push(step);
  }
  return steps.length === 0 ? undefined : steps;
}
