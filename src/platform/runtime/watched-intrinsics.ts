// Read once: as globals they are getters, which take longer than everything else here.
const BUFFER = Buffer;
const PROCESS = process;
const ARRAY_ITERATOR = Reflect.getPrototypeOf([][Symbol.iterator]()) as { next: unknown };

/**
 * The functions of the language that all code depends on, by name, as the host program has them. Each one is
 * written out, here and below, so that checking all of them takes nanoseconds: every call checks twice. A
 * test compares the two lists.
 */
export const language = {
  'Array.prototype.push': Array.prototype.push as unknown,
  'Array.prototype.pop': Array.prototype.pop as unknown,
  'Array.prototype.slice': Array.prototype.slice as unknown,
  'Array.prototype.splice': Array.prototype.splice as unknown,
  'Array.prototype.map': Array.prototype.map as unknown,
  'Array.prototype.filter': Array.prototype.filter as unknown,
  'Array.prototype.flatMap': Array.prototype.flatMap as unknown,
  'Array.prototype.some': Array.prototype.some as unknown,
  'Array.prototype.every': Array.prototype.every as unknown,
  'Array.prototype.find': Array.prototype.find as unknown,
  'Array.prototype.includes': Array.prototype.includes as unknown,
  'Array.prototype.indexOf': Array.prototype.indexOf as unknown,
  'Array.prototype.join': Array.prototype.join as unknown,
  'Array.prototype.sort': Array.prototype.sort as unknown,
  'Array.prototype.at': Array.prototype.at as unknown,
  'Array.prototype.entries': Array.prototype.entries as unknown,
  'String.prototype.replace': String.prototype.replace as unknown,
  'String.prototype.replaceAll': String.prototype.replaceAll as unknown,
  'String.prototype.slice': String.prototype.slice as unknown,
  'String.prototype.indexOf': String.prototype.indexOf as unknown,
  'String.prototype.includes': String.prototype.includes as unknown,
  'String.prototype.startsWith': String.prototype.startsWith as unknown,
  'String.prototype.endsWith': String.prototype.endsWith as unknown,
  'String.prototype.split': String.prototype.split as unknown,
  'String.prototype.trim': String.prototype.trim as unknown,
  'String.prototype.charCodeAt': String.prototype.charCodeAt as unknown,
  'String.prototype.toLowerCase': String.prototype.toLowerCase as unknown,
  'RegExp.prototype.exec': RegExp.prototype.exec as unknown,
  'RegExp.prototype.test': RegExp.prototype.test as unknown,
  'Promise.prototype.then': Promise.prototype.then as unknown,
  'Promise.prototype.catch': Promise.prototype.catch as unknown,
  'Promise.prototype.finally': Promise.prototype.finally as unknown,
  'Promise.resolve': Promise.resolve as unknown,
  'Promise.reject': Promise.reject as unknown,
  'Promise.all': Promise.all as unknown,
  'Promise.allSettled': Promise.allSettled as unknown,
  'Promise.race': Promise.race as unknown,
  'Map.prototype.get': Map.prototype.get as unknown,
  'Map.prototype.set': Map.prototype.set as unknown,
  'Map.prototype.has': Map.prototype.has as unknown,
  'Map.prototype.delete': Map.prototype.delete as unknown,
  'Map.prototype.values': Map.prototype.values as unknown,
  'Map.prototype.keys': Map.prototype.keys as unknown,
  'Map.prototype.entries': Map.prototype.entries as unknown,
  'Set.prototype.has': Set.prototype.has as unknown,
  'Set.prototype.add': Set.prototype.add as unknown,
  'Set.prototype.delete': Set.prototype.delete as unknown,
  'Set.prototype.values': Set.prototype.values as unknown,
  'WeakMap.prototype.get': WeakMap.prototype.get as unknown,
  'WeakMap.prototype.set': WeakMap.prototype.set as unknown,
  'WeakMap.prototype.has': WeakMap.prototype.has as unknown,
  'WeakSet.prototype.has': WeakSet.prototype.has as unknown,
  'WeakSet.prototype.add': WeakSet.prototype.add as unknown,
  'Object.keys': Object.keys as unknown,
  'Object.values': Object.values as unknown,
  'Object.entries': Object.entries as unknown,
  'Object.fromEntries': Object.fromEntries as unknown,
  'Object.freeze': Object.freeze as unknown,
  'Object.assign': Object.assign as unknown,
  'Object.hasOwn': Object.hasOwn as unknown,
  'Object.defineProperty': Object.defineProperty as unknown,
  'Object.getPrototypeOf': Object.getPrototypeOf as unknown,
  'Function.prototype.call': Function.prototype.call as unknown,
  'Function.prototype.apply': Function.prototype.apply as unknown,
  'Function.prototype.bind': Function.prototype.bind as unknown,
  'Array.isArray': Array.isArray as unknown,
  'Array.from': Array.from as unknown,
  'Number.isFinite': Number.isFinite as unknown,
  'Number.isInteger': Number.isInteger as unknown,
  'JSON.stringify': JSON.stringify as unknown,
  'JSON.parse': JSON.parse as unknown,
  'Math.min': Math.min as unknown,
  'Math.max': Math.max as unknown,
  'Math.round': Math.round as unknown,
  'Buffer.from': BUFFER.from as unknown,
  'Buffer.byteLength': BUFFER.byteLength as unknown,
  'Buffer.concat': BUFFER.concat as unknown,
  'Array.prototype.Symbol.iterator': Array.prototype[Symbol.iterator] as unknown,
  'Map.prototype.Symbol.iterator': Map.prototype[Symbol.iterator] as unknown,
  'Set.prototype.Symbol.iterator': Set.prototype[Symbol.iterator] as unknown,
  'ArrayIterator.next': ARRAY_ITERATOR.next as unknown,
  JSON: JSON as unknown,
  Promise: Promise as unknown,
  Map: Map as unknown,
  Set: Set as unknown,
  WeakMap: WeakMap as unknown,
  Object: Object as unknown,
  Array: Array as unknown,
  Number: Number as unknown,
  Math: Math as unknown,
  structuredClone: structuredClone as unknown,
};

/** The functions of the clock and the timers. */
export const time = {
  setTimeout: setTimeout as unknown,
  clearTimeout: clearTimeout as unknown,
  setImmediate: setImmediate as unknown,
  queueMicrotask: queueMicrotask as unknown,
  'Date.now': Date.now as unknown,
  'process.nextTick': PROCESS.nextTick as unknown,
};

const HOLDERS: { readonly [name: string]: object } = {
  ArrayIterator: ARRAY_ITERATOR,
  Array: Array,
  'Array.prototype': Array.prototype,
  Buffer: BUFFER,
  Date: Date,
  'Function.prototype': Function.prototype,
  JSON: JSON,
  'Map.prototype': Map.prototype,
  Math: Math,
  Number: Number,
  Object: Object,
  Promise: Promise,
  'Promise.prototype': Promise.prototype,
  'RegExp.prototype': RegExp.prototype,
  'Set.prototype': Set.prototype,
  'String.prototype': String.prototype,
  'WeakMap.prototype': WeakMap.prototype,
  'WeakSet.prototype': WeakSet.prototype,
  process: PROCESS,
};

/** The object and the key under which the function with this name lies. */
export function placeOf(name: string): { readonly holder: object; readonly key: PropertyKey } {
  const plain = name.replace('.Symbol.iterator', '');
  const key = plain.slice(plain.lastIndexOf('.') + 1);
  const holder = HOLDERS[plain.slice(0, Math.max(0, plain.length - key.length - 1))] ?? globalThis;
  return plain === name ? { holder, key } : { holder: HOLDERS[plain] ?? globalThis, key: Symbol.iterator };
}

export function isLanguageIntact(): boolean {
  return (
    Array.prototype.push === language['Array.prototype.push'] &&
    Array.prototype.pop === language['Array.prototype.pop'] &&
    Array.prototype.slice === language['Array.prototype.slice'] &&
    Array.prototype.splice === language['Array.prototype.splice'] &&
    Array.prototype.map === language['Array.prototype.map'] &&
    Array.prototype.filter === language['Array.prototype.filter'] &&
    Array.prototype.flatMap === language['Array.prototype.flatMap'] &&
    Array.prototype.some === language['Array.prototype.some'] &&
    Array.prototype.every === language['Array.prototype.every'] &&
    Array.prototype.find === language['Array.prototype.find'] &&
    Array.prototype.includes === language['Array.prototype.includes'] &&
    Array.prototype.indexOf === language['Array.prototype.indexOf'] &&
    Array.prototype.join === language['Array.prototype.join'] &&
    Array.prototype.sort === language['Array.prototype.sort'] &&
    Array.prototype.at === language['Array.prototype.at'] &&
    Array.prototype.entries === language['Array.prototype.entries'] &&
    String.prototype.replace === language['String.prototype.replace'] &&
    String.prototype.replaceAll === language['String.prototype.replaceAll'] &&
    String.prototype.slice === language['String.prototype.slice'] &&
    String.prototype.indexOf === language['String.prototype.indexOf'] &&
    String.prototype.includes === language['String.prototype.includes'] &&
    String.prototype.startsWith === language['String.prototype.startsWith'] &&
    String.prototype.endsWith === language['String.prototype.endsWith'] &&
    String.prototype.split === language['String.prototype.split'] &&
    String.prototype.trim === language['String.prototype.trim'] &&
    String.prototype.charCodeAt === language['String.prototype.charCodeAt'] &&
    String.prototype.toLowerCase === language['String.prototype.toLowerCase'] &&
    RegExp.prototype.exec === language['RegExp.prototype.exec'] &&
    RegExp.prototype.test === language['RegExp.prototype.test'] &&
    Promise.prototype.then === language['Promise.prototype.then'] &&
    Promise.prototype.catch === language['Promise.prototype.catch'] &&
    Promise.prototype.finally === language['Promise.prototype.finally'] &&
    Promise.resolve === language['Promise.resolve'] &&
    Promise.reject === language['Promise.reject'] &&
    Promise.all === language['Promise.all'] &&
    Promise.allSettled === language['Promise.allSettled'] &&
    Promise.race === language['Promise.race'] &&
    Map.prototype.get === language['Map.prototype.get'] &&
    Map.prototype.set === language['Map.prototype.set'] &&
    Map.prototype.has === language['Map.prototype.has'] &&
    Map.prototype.delete === language['Map.prototype.delete'] &&
    Map.prototype.values === language['Map.prototype.values'] &&
    Map.prototype.keys === language['Map.prototype.keys'] &&
    Map.prototype.entries === language['Map.prototype.entries'] &&
    Set.prototype.has === language['Set.prototype.has'] &&
    Set.prototype.add === language['Set.prototype.add'] &&
    Set.prototype.delete === language['Set.prototype.delete'] &&
    Set.prototype.values === language['Set.prototype.values'] &&
    WeakMap.prototype.get === language['WeakMap.prototype.get'] &&
    WeakMap.prototype.set === language['WeakMap.prototype.set'] &&
    WeakMap.prototype.has === language['WeakMap.prototype.has'] &&
    WeakSet.prototype.has === language['WeakSet.prototype.has'] &&
    WeakSet.prototype.add === language['WeakSet.prototype.add'] &&
    Object.keys === language['Object.keys'] &&
    Object.values === language['Object.values'] &&
    Object.entries === language['Object.entries'] &&
    Object.fromEntries === language['Object.fromEntries'] &&
    Object.freeze === language['Object.freeze'] &&
    Object.assign === language['Object.assign'] &&
    Object.hasOwn === language['Object.hasOwn'] &&
    Object.defineProperty === language['Object.defineProperty'] &&
    Object.getPrototypeOf === language['Object.getPrototypeOf'] &&
    Function.prototype.call === language['Function.prototype.call'] &&
    Function.prototype.apply === language['Function.prototype.apply'] &&
    Function.prototype.bind === language['Function.prototype.bind'] &&
    Array.isArray === language['Array.isArray'] &&
    Array.from === language['Array.from'] &&
    Number.isFinite === language['Number.isFinite'] &&
    Number.isInteger === language['Number.isInteger'] &&
    JSON.stringify === language['JSON.stringify'] &&
    JSON.parse === language['JSON.parse'] &&
    Math.min === language['Math.min'] &&
    Math.max === language['Math.max'] &&
    Math.round === language['Math.round'] &&
    BUFFER.from === language['Buffer.from'] &&
    BUFFER.byteLength === language['Buffer.byteLength'] &&
    BUFFER.concat === language['Buffer.concat'] &&
    Array.prototype[Symbol.iterator] === language['Array.prototype.Symbol.iterator'] &&
    Map.prototype[Symbol.iterator] === language['Map.prototype.Symbol.iterator'] &&
    Set.prototype[Symbol.iterator] === language['Set.prototype.Symbol.iterator'] &&
    ARRAY_ITERATOR.next === language['ArrayIterator.next'] &&
    JSON === language.JSON &&
    Promise === language.Promise &&
    Map === language.Map &&
    Set === language.Set &&
    WeakMap === language.WeakMap &&
    Object === language.Object &&
    Array === language.Array &&
    Number === language.Number &&
    Math === language.Math &&
    structuredClone === language.structuredClone
  );
}

export function isTimeIntact(): boolean {
  return (
    setTimeout === time.setTimeout &&
    clearTimeout === time.clearTimeout &&
    setImmediate === time.setImmediate &&
    queueMicrotask === time.queueMicrotask &&
    Date.now === time['Date.now'] &&
    PROCESS.nextTick === time['process.nextTick']
  );
}

const NOTHING = {};

/** Whether every object has a member that only some objects should have. */
export function hasMemberForAll(): boolean {
  return (
    'error' in NOTHING ||
    'text' in NOTHING ||
    'content' in NOTHING ||
    'structured' in NOTHING ||
    'metadata' in NOTHING ||
    'code' in NOTHING ||
    'message' in NOTHING ||
    'hint' in NOTHING ||
    'details' in NOTHING ||
    'truncatable' in NOTHING ||
    'truncated' in NOTHING ||
    'outputRef' in NOTHING ||
    'then' in NOTHING ||
    'signal' in NOTHING ||
    'toJSON' in NOTHING ||
    'get' in NOTHING ||
    'set' in NOTHING ||
    'value' in NOTHING ||
    'enumerable' in NOTHING ||
    'configurable' in NOTHING ||
    'writable' in NOTHING ||
    'success' in NOTHING ||
    'output' in NOTHING ||
    'cause' in NOTHING ||
    'executed' in NOTHING ||
    'reason' in NOTHING ||
    'args' in NOTHING ||
    'conversation' in NOTHING ||
    'id' in NOTHING ||
    'name' in NOTHING ||
    'path' in NOTHING ||
    'mode' in NOTHING
  );
}
