/** A property that code can replace, in its state when it was first read. */
export interface Watched {
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
  readonly descriptor: PropertyDescriptor | undefined;
  /** Reading the property of this object returns `value` as long as nothing is replaced. */
  readonly sample: object;
  readonly value: unknown;
}

const { apply, get, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;

/** Globals that are watched, including their members and the members of their prototypes. */
const GLOBALS = [
  ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'BigInt', 'Symbol', 'Math', 'JSON'],
  ...['Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Proxy', 'Reflect'],
  ...['RegExp', 'Date', 'Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError'],
  ...['URIError', 'AggregateError', 'ArrayBuffer', 'SharedArrayBuffer', 'Uint8Array', 'DataView', 'Atomics'],
  ...['Buffer', 'TextEncoder', 'TextDecoder', 'URL', 'URLSearchParams', 'AbortController', 'AbortSignal'],
  ...['EventTarget', 'Event', 'structuredClone', 'parseInt', 'parseFloat', 'isNaN', 'encodeURIComponent'],
  ...['decodeURIComponent', 'encodeURI', 'decodeURI', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
];

/** Tests replace these for one call on purpose. */
const OFTEN_REPLACED: ReadonlySet<string> = new Set(['Date', 'Date.now', 'Math.random']);

/** All built-in functions that code can replace, and the functions of Node that schedule work. */
export function watchLanguage(): readonly Watched[] {
  const found: Watched[] = [];
  for (const name of GLOBALS) {
    const value: unknown = get(globalThis, name);
    add(found, name, globalThis, name);
    if (/^[a-z]/u.test(name)) continue;
    addMembers(found, name, value);
    addMembers(found, `${name}.prototype`, isObject(value) ? get(value, 'prototype') : undefined);
  }
  for (const [name, holder] of HIDDEN) addMembers(found, name, holder);
  add(found, 'process.nextTick', process, 'nextTick');
  return found;
}

/** The clock and the timers. */
export function watchTime(): readonly Watched[] {
  const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'];
  return [
    ...names.map((name) => watchedAs(name, globalThis, name)),
    watchedAs('Date.now', Date, 'now'),
    watchedAs('performance.now', performance, 'now'),
    watchedAs('Performance.prototype.now', getPrototypeOf(performance) ?? performance, 'now'),
  ];
}

function watchedAs(name: string, holder: object, key: string): Watched {
  const descriptor = getOwnPropertyDescriptor(holder, key);
  return { name, holder, key, descriptor, sample: holder, value: get(holder, key) as unknown };
}

/** Prototypes that no global refers to. */
const HIDDEN: readonly (readonly [name: string, holder: object | null])[] = [
  ['ArrayIterator', getPrototypeOf([][Symbol.iterator]())],
  ['MapIterator', getPrototypeOf(new Map().entries())],
  ['SetIterator', getPrototypeOf(new Set().values())],
  ['StringIterator', getPrototypeOf(''[Symbol.iterator]())],
  ['RegExpStringIterator', getPrototypeOf(''.matchAll(/a/gu))],
  ['Iterator.prototype', above([][Symbol.iterator](), 2)],
  ['Generator.prototype', above(function* () {}.prototype, 1)],
  ['AsyncGenerator.prototype', above(async function* () {}.prototype, 1)],
  ['AsyncIterator.prototype', above(async function* () {}.prototype, 2)],
  ['TypedArray', getPrototypeOf(Uint8Array)],
  ['TypedArray.prototype', getPrototypeOf(Uint8Array.prototype)],
];

function above(value: object, steps: number): object | null {
  let at: object | null = value;
  for (let step = 0; step < steps && at !== null; step++) at = getPrototypeOf(at);
  return at;
}

/** Objects used to check the getters of a prototype. */
const SAMPLES: ReadonlyMap<unknown, object> = new Map<unknown, object>([
  [Map.prototype, new Map()],
  [Set.prototype, new Set()],
  [RegExp.prototype, /a/u],
  [ArrayBuffer.prototype, new ArrayBuffer(0)],
  [getPrototypeOf(Uint8Array.prototype), new Uint8Array(0)],
]);

function addMembers(found: Watched[], name: string, holder: unknown): void {
  if (!isObject(holder)) return;
  for (const key of ownKeys(holder)) {
    const member = typeof key === 'symbol' ? `[${key.description}]` : `.${key}`;
    if (!OFTEN_REPLACED.has(name + member)) add(found, name + member, holder, key);
  }
}

function add(found: Watched[], name: string, holder: object, key: PropertyKey): void {
  const descriptor = getOwnPropertyDescriptor(holder, key);
  if (descriptor === undefined || OFTEN_REPLACED.has(name)) return;
  const isFixed = descriptor.configurable === false && descriptor.writable !== true;
  const sample = 'value' in descriptor || key === Symbol.species ? holder : SAMPLES.get(holder);
  if (isFixed || sample === undefined) return;
  const value = get(sample, key) as unknown;
  const isFunction = typeof value === 'function' || isObject(value);
  if (isFunction || descriptor.get !== undefined)
    found.push({ name, holder, key, descriptor, sample, value });
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** A process with a single call makes four checks, and compiling would take longer than those. */
const CHECKS_BEFORE_COMPILING = 6;

/** Returns a check whether all of these properties are unchanged. */
export function checkFor(watched: readonly Watched[]): () => boolean {
  let check = (): boolean => isEachAsKnown(watched);
  let checks = 0;
  return () => {
    if (checks < CHECKS_BEFORE_COMPILING && ++checks === CHECKS_BEFORE_COMPILING) check = compiled(watched);
    return check();
  };
}

/**
 * One comparison after the other, each with constants: V8 then assumes that they hold, and the check of 680 properties
 * takes less than 0.1 µs. A loop over them takes 10 µs; the loop is used if the program forbids code from strings.
 */
function compiled(watched: readonly Watched[]): () => boolean {
  const samples = [...new Set(watched.map(({ sample }) => sample))];
  const numbers = new Map(samples.map((sample, index) => [sample, index]));
  const constants = samples.map((_, index) => `s${index} = samples[${index}]`);
  const compared = watched.map(({ key, sample }, index) => {
    constants.push(`v${index} = watched[${index}].value`);
    const isName = typeof key === 'string' && /^[A-Za-z_$][\w$]*$/u.test(key);
    if (!isName) constants.push(`k${index} = watched[${index}].key`);
    return `s${numbers.get(sample)}${isName ? `.${key}` : `[k${index}]`} === v${index}`;
  });
  const body = `const ${constants.join(',')};return () => ${compared.join('&&')};`;
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- the text has numbers and names of the language alone
    return apply(new Function('samples', 'watched', body) as Compiled, undefined, [samples, watched]);
  } catch {
    return () => isEachAsKnown(watched);
  }
}

type Compiled = (samples: readonly object[], watched: readonly Watched[]) => () => boolean;

function isEachAsKnown(watched: readonly Watched[]): boolean {
  for (let index = 0; index < watched.length; index++) {
    const { sample, key, value } = watched[index] as Watched;
    if (get(sample, key) !== value) return false;
  }
  return true;
}
