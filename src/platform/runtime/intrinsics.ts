import { checkFor, type Watched, watchLanguage, watchTime } from './watched-intrinsics.js';

/**
 * All code of this process depends on the functions of the language. A tool runs in the same process and can replace
 * them, or give every object a member through `Object.prototype`. Calls run with the built-in functions in the state in
 * which the first call of this process found them.
 *
 * 1. A change that a tool makes before its first `await` is attributed to the tool: it is undone, and the tool is named.
 * 2. The same holds for changes while tools run, except for the clock and the timers, which a test may replace at that
 *    moment: those stay.
 * 3. A change while no tool runs comes from the host program (a polyfill, a spy) or from a timer of a tool that has its
 *    answer. It is removed while calls are running, and restored afterwards. New members of `Object.prototype` are not
 *    restored: if every object has a `then`, `await` never ends.
 * 4. A clock and timers that were replaced while no tool runs stay, unless they throw or return nothing.
 */
const { defineProperty, deleteProperty, get, getOwnPropertyDescriptor, ownKeys, set } = Reflect;

interface Known {
  readonly watched: readonly Watched[];
  readonly isIntact: () => boolean;
}

interface Language extends Known {
  /** The prototypes of all objects and of all arrays. */
  readonly ofObjects: readonly PropertyKey[];
  readonly ofArrays: readonly PropertyKey[];
  /** How many of their members `for … in` lists. */
  readonly shown: number;
  /** Whether every object had a member that only some objects should have. */
  readonly isPolluted: boolean;
}

/** Undefined before the first call of the process. */
let language: Language | undefined;
let time: Known | undefined;

/** The number of running batches, and of running tools. */
let open = 0;
let running = 0;

interface SetAside {
  readonly property: Watched;
  readonly found: PropertyDescriptor | undefined;
}

/** Replacements that were found while no tool ran. */
let aside: SetAside[] = [];

/** Call it when a batch of calls is admitted, after `keepLanguage`. */
export function beginCalls(): void {
  open++;
}

/** Call it when the results of the batch are complete. */
export function endCalls(): void {
  if (--open === 0 && aside.length > 0) giveBack();
}

/** Runs code outside a batch that tools must not influence either. */
export async function withLanguage<T>(work: () => Promise<T>): Promise<T> {
  keepLanguage();
  beginCalls();
  try {
    return await work();
  } finally {
    endCalls();
  }
}

/** Call it before any work on a batch, and after every wait. */
export function keepLanguage(): void {
  language ??= learnLanguage(watchLanguage());
  time ??= learnTime();
  if (!isIntact(language)) restoreLanguage(language, running === 0);
  if (!isAsKnown(time)) takeTime(time);
}

/** Call it before a tool starts. */
export function beginTool(): void {
  keepLanguage();
  running++;
}

/**
 * Call it when a tool first waits, or has ended without waiting.
 * @returns the name of a function that the tool replaced; undefined if none
 */
export function afterFirstTurn(): string | undefined {
  const names = language === undefined || isIntact(language) ? '' : restoreLanguage(language, false);
  if (time === undefined || isAsKnown(time)) return names || undefined;
  return joined(names, restore(time.watched, false)) || undefined;
}

/**
 * Call it whenever a call continues while its tool runs.
 * @returns the name of a function that the tool has replaced since; undefined if none, or if another tool may
 * have done it
 */
export function afterLaterTurn(): string | undefined {
  if (language === undefined || isIntact(language)) return undefined;
  const names = restoreLanguage(language, false);
  return running === 1 ? names || undefined : undefined;
}

/** Call it when a tool has ended, right after the last check. */
export function endTool(): void {
  running--;
}

/** The properties that are watched, for tests. */
export function watchedProperties(): {
  readonly ofLanguage: readonly Watched[];
  readonly ofTime: readonly Watched[];
} {
  keepLanguage();
  return { ofLanguage: language?.watched ?? [], ofTime: time?.watched ?? [] };
}

function learnLanguage(watched: readonly Watched[]): Language {
  return {
    watched,
    isIntact: checkFor(watched),
    ofObjects: ownKeys(Object.prototype),
    ofArrays: ownKeys(Array.prototype),
    shown: countShown(),
    isPolluted: hasMemberForAll(),
  };
}

function learnTime(): Known {
  const watched = watchTime();
  return { watched, isIntact: checkFor(watched) };
}

function isIntact(known: Language): boolean {
  return isAsKnown(known) && countShown() === known.shown && (known.isPolluted || !hasMemberForAll());
}

function isAsKnown({ isIntact: check }: Known): boolean {
  try {
    return check();
  } catch {
    // A getter in place of the function throws.
    return false;
  }
}

function restoreLanguage({ watched, ofObjects, ofArrays }: Language, setsAside: boolean): string {
  let names = restore(watched, setsAside);
  names = joined(names, removeMembers('Object.prototype', Object.prototype, ofObjects));
  names = joined(names, removeMembers('Array.prototype', Array.prototype, ofArrays));
  language = learnAgain(watched);
  return names;
}

/** The next tool is not blamed for a replacement that cannot be undone. */
function learnAgain(watched: readonly Watched[]): Language | undefined {
  if (language === undefined || isIntact(language)) return language;
  return learnLanguage(watched.filter(({ sample, key, value }) => get(sample, key) === value));
}

/** By index: an iterator may itself have been replaced. */
function restore(watched: readonly Watched[], setsAside: boolean): string {
  let names = '';
  for (let index = 0; index < watched.length; index++) {
    const property = watched[index] as Watched;
    const { name, holder, key, descriptor } = property;
    const found = getOwnPropertyDescriptor(holder, key);
    if (isSame(found, descriptor)) continue;
    names = joined(names, name);
    if (setsAside) aside[aside.length] = { property, found };
    define(holder, key, descriptor);
  }
  return names;
}

function removeMembers(name: string, holder: object, known: readonly PropertyKey[]): string {
  let names = '';
  const now = ownKeys(holder);
  for (let index = 0; index < now.length; index++) {
    const key = now[index] as PropertyKey;
    if (isAmong(key, known)) continue;
    names = joined(names, `${name}.${typeof key === 'string' ? key : 'symbol'}`);
    // A member that cannot be removed is at least emptied.
    if (!deleteProperty(holder, key)) set(holder, key, undefined);
  }
  return names;
}

function giveBack(): void {
  const given = aside;
  aside = [];
  for (let index = given.length - 1; index >= 0; index--) {
    const { property, found } = given[index] as SetAside;
    const { holder, key, descriptor } = property;
    if (isSame(getOwnPropertyDescriptor(holder, key), descriptor)) define(holder, key, found);
  }
}

function takeTime(known: Known): void {
  if (!hasWorkingTime()) restore(known.watched, false);
  time = learnTime();
}

function hasWorkingTime(): boolean {
  try {
    const timers = [setTimeout(() => {}, 1), setInterval(() => {}, 1)] as const;
    clearTimeout(timers[0]);
    clearInterval(timers[1]);
    const times = [Date.now(), performance.now(), new Date(0).getTime()];
    return timers.every((timer) => Boolean(timer)) && times.every((one) => typeof one === 'number');
  } catch {
    return false;
  }
}

function define(holder: object, key: PropertyKey, descriptor: PropertyDescriptor | undefined): void {
  if (descriptor === undefined) deleteProperty(holder, key);
  else defineProperty(holder, key, descriptor);
}

function isAmong(key: PropertyKey, keys: readonly PropertyKey[]): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === key) return true;
  return false;
}

function isSame(one: PropertyDescriptor | undefined, other: PropertyDescriptor | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.value === other.value && one.get === other.get && one.set === other.set;
}

function joined(names: string, more: string): string {
  return names === '' || more === '' ? names + more : `${names}, ${more}`;
}

const NOTHING = {};
/** Like an array without elements. */
const NONE: object = Object.create(Array.prototype);

function countShown(): number {
  let count = 0;
  for (const _ in NONE) count++;
  return count;
}

/**
 * Whether every object has a member that only some objects should have. `for … in` lists assigned members; a
 * member that was defined as hidden is found only by its name.
 */
function hasMemberForAll(): boolean {
  return (
    'then' in NONE ||
    'toJSON' in NONE ||
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
