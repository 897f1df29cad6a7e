import { resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { showValue } from '../base/show-setting.js';
import { compilePattern } from '../files/compile-pattern.js';
import { entryStat, realPath } from '../platform/fs/fs-entry.js';

/** The accepted part of an untrusted file's value. */
export interface Tightened {
  /** In the file's notation; undefined: nothing is accepted. */
  readonly value: unknown;
  /** Why it is not the whole value. */
  readonly reason?: string;
  /** The value includes entries of the person's own. */
  readonly isJoined?: true;
}

/** The context for an untrusted value. */
export interface TightenScope {
  /**
   * The value without the file: from the person's own configuration, or the default; undefined if there is
   * none.
   */
  readonly base: unknown;
  /** The person has set it; false: `base` is the default. */
  readonly isBaseNamed: boolean;
  /** The file's directory, canonical. */
  readonly directory: string;
  /** The canonical roots without the file. */
  readonly baseRoots: readonly string[];
  /** The person's own deny patterns. */
  readonly ownPatterns: readonly string[];
}

/** The changes that an untrusted file may make to a key: never more permissive than without it. */
export interface Tighten {
  /** For the documentation. */
  readonly may: string;
  /** Called only with valid values of the key. */
  apply(asked: unknown, scope: TightenScope): Tightened;
}

/** Accepts a smaller number. @param unnamed the effective default, if it is lower than the documented one. */
export function smaller(unnamed = Number.POSITIVE_INFINITY): Tighten {
  return {
    may: unnamed === Number.POSITIVE_INFINITY ? 'smaller' : `smaller, and at most ${unnamed}`,
    apply: (asked, { base, isBaseNamed }) => {
      const most = isBaseNamed ? Number(base) : Math.min(Number(base), unnamed);
      return Number(asked) <= most ? { value: asked } : refused(`it may be at most ${showValue(most)} here`);
    },
  };
}

/** Accepts a smaller number, or any if there is no limit without the file. */
export const smallerOrAny: Tighten = {
  may: 'smaller',
  apply: (asked, scope) => (scope.base === undefined ? { value: asked } : smaller().apply(asked, scope)),
};

/** Accepts a value that is at least as strict. @param order strictest first. */
export function stricter(...order: readonly unknown[]): Tighten {
  return {
    may: 'stricter',
    apply: (asked, { base }) => {
      const isStricter = order.indexOf(asked) <= order.indexOf(base);
      return isStricter ? { value: asked } : refused(`it may be no looser than ${showValue(base)}`);
    },
  };
}

/** Accepts only the strict value. */
export function only(strict: boolean): Tighten {
  return {
    may: `only \`${strict}\``,
    apply: (asked) =>
      asked === strict ? { value: asked } : refused(`it may only say ${showValue(strict)} here`),
  };
}

/** Accepts more entries, for deny lists that replace those of weaker layers. */
export const adding: Tighten = {
  may: 'adds',
  apply: (asked, { base }) => {
    const [own, more] = [listOf(base), listOf(asked)];
    const dropped = own.filter((entry) => !more.includes(entry));
    const value = [...own, ...more.filter((entry) => !own.includes(entry))];
    if (dropped.length === 0) return { value };
    return { value, isJoined: true, reason: `it may only add to the list: ${showValue(dropped)} stays` };
  },
};

/** Accepts more entries than a default list. */
export function addingTo(unsaid: readonly string[]): Tighten {
  return {
    may: 'adds',
    apply: (asked, scope) => {
      if (scope.base !== undefined) return adding.apply(asked, scope);
      const more = listOf(asked).filter((entry) => !unsaid.some((own) => own === entry));
      return more.length === 0
        ? refused('it may only add to the list')
        : { value: [...unsaid, ...more], isJoined: true };
    },
  };
}

/** Accepts `true`, which means all; otherwise more entries. */
export const addingRedactions: Tighten = {
  may: 'adds',
  apply: (asked, scope) => {
    if (asked === true) return { value: true };
    if (scope.base === true) return refused('every argument stays left out');
    return asked === false ? refused('it may only add to what is left out') : adding.apply(asked, scope);
  },
};

/** Accepts fewer entries, for allow lists. */
export const removing: Tighten = {
  may: 'takes away',
  apply: (asked, { base }) => {
    const own = listOf(base);
    const more = listOf(asked).filter((entry) => !own.includes(entry));
    const value = own.filter((entry) => listOf(asked).includes(entry));
    if (more.length === 0) return { value };
    return { value, reason: `it may only take from the list: ${showValue(more)} is not on it` };
  },
};

/** For deny lists that are joined over all layers. */
export const joining: Tighten = { may: 'adds', apply: (asked) => ({ value: asked }) };

/** Accepts rules that deny or ask. */
export const onlyRefusing: Tighten = {
  may: 'denies and asks',
  apply: (asked) => {
    const kept = listOf(asked).filter((rule) => Object(rule).decision !== 'allow');
    const value = kept.length === 0 ? undefined : kept;
    if (kept.length === listOf(asked).length) return { value };
    return { value, reason: 'its rules may deny and ask, and not allow' };
  },
};

/** For example text for a model. */
export const never: Tighten = {
  may: 'nothing',
  apply: () => refused('only a trusted file may set it'),
};

function refused(reason: string): Tightened {
  return { value: undefined, reason };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Accepts roots inside the existing roots, compared by real path: `link-to-home` is home. The result contains
 * real paths, so a link that changes later has no effect.
 */
export const tightenRoots: Tighten = { may: 'inside the roots that hold without it', apply: narrow };

function narrow(asked: unknown, { directory, baseRoots, ownPatterns }: TightenScope): Tightened {
  // `secrets/**` refers to a root's own `secrets`, so it would not match with a root further down.
  const relative = ownPatterns.find((pattern) => isRelative(pattern));
  if (relative !== undefined) {
    const reason = `your own denied pattern ${showValue(relative)} refers to the roots that you chose`;
    return { value: undefined, reason };
  }
  const roots = (Array.isArray(asked) ? asked : []).map(String);
  const real = roots.map((root) => realDirectory(resolve(directory, root)));
  const inside = real.filter((path) => path !== undefined && baseRoots.some((base) => covers(base, path)));
  const value = inside.length === 0 ? undefined : inside;
  if (inside.length === roots.length) return { value };
  const outside = roots.filter((_, index) => !inside.includes(real[index]));
  return {
    value,
    reason: `${showValue(outside)} is not a directory inside ${baseRoots.map(showValue).join(', ')}`,
  };
}

function realDirectory(path: string): string | undefined {
  const real = realPath(path);
  return real !== undefined && entryStat(real)?.isDirectory() === true ? real : undefined;
}

function isRelative(pattern: string): boolean {
  return compilePattern(pattern, 'patterns').some(({ subject }) => subject === 'relative');
}
