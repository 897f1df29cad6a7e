import {
  hasMemberForAll,
  isLanguageIntact,
  isTimeIntact,
  language,
  placeOf,
  time,
} from './watched-intrinsics.js';

/**
 * Functions of the language and of Node on which all code of this process depends. A tool runs in the same
 * process and can replace them, or give every object a member through `Object.prototype`. Such changes are
 * undone before any other call continues.
 *
 * 1. While no tool runs, a change comes from the host program (a polyfill, fake timers) and stays.
 * 2. A change that a tool makes before it first waits is attributed to the tool: it is undone, and the tool
 *   is named.
 * 3. The same holds for changes while tools run, except for the clock and the timers, which a test may
 *   replace at that moment: those stay.
 */
const { defineProperty, deleteProperty, get, getOwnPropertyDescriptor, ownKeys, set } = Reflect;

interface Watched {
  readonly name: string;
  readonly holder: object;
  readonly key: PropertyKey;
  /** The property as the host program defined it. */
  descriptor: PropertyDescriptor | undefined;
}

const LANGUAGE = watchedIn(language);
/** The properties that are restored, by name. */
export const WATCHED: readonly Watched[] = [...LANGUAGE, ...watchedIn(time)];

function watchedIn(functions: object): readonly Watched[] {
  return Object.keys(functions).map((name) => {
    const { holder, key } = placeOf(name);
    return { name, holder, key, descriptor: getOwnPropertyDescriptor(holder, key) };
  });
}

/** The members of `Object.prototype`. */
let members: readonly PropertyKey[] = ownKeys(Object.prototype);
let isPolluted = hasMemberForAll();

/** Accepts the current state: the host program has replaced something. */
function takeAsKnown(): void {
  for (const watched of WATCHED) {
    const { name, holder, key } = watched;
    set(name in language ? language : time, name, get(holder, key));
    watched.descriptor = getOwnPropertyDescriptor(holder, key);
  }
  members = ownKeys(Object.prototype);
  isPolluted = hasMemberForAll();
}

/** How many tools are running. */
let running = 0;

/** To be called before a tool starts. */
export function beginTool(): void {
  if (running++ > 0) putBack(isIntact, LANGUAGE);
  else if (!isUntouchedSafely()) takeAsKnown();
}

/**
 * To be called when a tool first waits, or has ended without waiting.
 * @returns the name of what the tool replaced; undefined if nothing
 */
export function afterFirstTurn(): string | undefined {
  return putBack(isUntouched, WATCHED);
}

/**
 * To be called whenever a call continues while its tool runs.
 * @returns the name of what the tool replaced since; undefined if nothing, or if another tool may have done
 * it
 */
export function afterLaterTurn(): string | undefined {
  const changed = putBack(isIntact, LANGUAGE);
  return running === 1 ? changed : undefined;
}

/** To be called when a tool has ended, just after the last check. */
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
    // A getter in place of the function throws.
  }
  return restore(watched) || undefined;
}

/** By index: an iterator may itself have been replaced. */
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
    // A member that cannot be removed is at least emptied.
    if (!deleteProperty(Object.prototype, key)) set(Object.prototype, key, undefined);
  }
  // What cannot be restored is not blamed on the next tool.
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
