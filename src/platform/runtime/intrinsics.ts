import {
  hasMemberForAll,
  isLanguageIntact,
  isTimeIntact,
  language,
  placeOf,
  time,
} from './watched-intrinsics.js';

/**
 * Functions of the language and of Node on which all code of this process depends. A tool runs in the same process and
 * can replace them, or give every object a member by `Object.prototype`: that is put back before any call goes on.
 *
 * 1. While no tool runs, a change is the host program's own (a polyfill, fake timers) and stays.
 * 2. A change that a tool makes before it first waits is its own: it is put back, and named.
 * 3. So is what changes while tools run; but the clock and the timers, which a test may replace just then, stay.
 */
const { defineProperty, deleteProperty, get, getOwnPropertyDescriptor, ownKeys, set } = Reflect;

interface Watched {
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
  /** As the host program has it. */
  descriptor: PropertyDescriptor | undefined;
}

const LANGUAGE = watchedIn(language);
/** What is put back, by name. */
export const WATCHED: readonly Watched[] = [...LANGUAGE, ...watchedIn(time)];

function watchedIn(functions: object): readonly Watched[] {
  return Object.keys(functions).map((name) => {
    const { holder, key } = placeOf(name);
    return { name, holder, key, descriptor: getOwnPropertyDescriptor(holder, key) };
  });
}

/** What every object has by `Object.prototype`. */
let members: readonly PropertyKey[] = ownKeys(Object.prototype);
let isPolluted = hasMemberForAll();

/** The host program has replaced something. */
function takeAsKnown(): void {
  for (const watched of WATCHED) {
    const { name, holder, key } = watched;
    set(name in language ? language : time, name, get(holder, key));
    watched.descriptor = getOwnPropertyDescriptor(holder, key);
  }
  members = ownKeys(Object.prototype);
  isPolluted = hasMemberForAll();
}

/** Tools that have begun and not ended. */
let running = 0;

/** Before a tool begins. */
export function beginTool(): void {
  if (running++ > 0) putBack(isIntact, LANGUAGE);
  else if (!isUntouchedSafely()) takeAsKnown();
}

/**
 * When a tool first waits, or has ended without waiting.
 * @returns what it has replaced, by name; undefined where that is nothing
 */
export function afterFirstTurn(): string | undefined {
  return putBack(isUntouched, WATCHED);
}

/**
 * Whenever a call goes on while its tool runs.
 * @returns what the tool has replaced since, by name; undefined where that is nothing, or may have been another tool
 */
export function afterLaterTurn(): string | undefined {
  const changed = putBack(isIntact, LANGUAGE);
  return running === 1 ? changed : undefined;
}

/** A tool has ended, and was looked at just before. */
export function endTool(): void {
  running--;
}

function isUntouched(): boolean {
  return isIntact() && isTimeIntact();
}

function isIntact(): boolean {
  return (isPolluted || !hasMemberForAll()) && isLanguageIntact();
}

function putBack(isAsKnown: () => boolean, watched: readonly Watched[]): string | undefined {
  try {
    if (isAsKnown()) return undefined;
  } catch {
    // A getter in its place throws.
  }
  return restore(watched) || undefined;
}

/** By index: what walks through a list may be what was replaced. */
function restore(watched: readonly Watched[]): string {
  let names = '';
  for (let index = 0; index < watched.length; index++) {
    const { name, holder, key, descriptor: was } = watched[index] as Watched;
    if (was === undefined || isSame(getOwnPropertyDescriptor(holder, key), was)) continue;
    names += `${names === '' ? '' : ', '}${name}`;
    defineProperty(holder, key, was);
  }
  const now = ownKeys(Object.prototype);
  for (let index = 0; index < now.length; index++) {
    const key = now[index] as PropertyKey;
    if (isMember(key)) continue;
    names += `${names === '' ? '' : ', '}Object.prototype.${typeof key === 'string' ? key : 'symbol'}`;
    // One that cannot be removed holds nothing, at least.
    if (!deleteProperty(Object.prototype, key)) set(Object.prototype, key, undefined);
  }
  // What cannot be put back is not held against the next tool.
  if (!isUntouchedSafely()) takeAsKnown();
  return names;
}

function isUntouchedSafely(): boolean {
  try {
    return isUntouched();
  } catch {
    return false;
  }
}

function isMember(key: PropertyKey): boolean {
  for (let index = 0; index < members.length; index++) if (members[index] === key) return true;
  return false;
}

function isSame(one: PropertyDescriptor | undefined, other: PropertyDescriptor): boolean {
  return one !== undefined && one.value === other.value && one.get === other.get && one.set === other.set;
}
