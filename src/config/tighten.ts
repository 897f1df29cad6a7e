import { resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { showValue } from '../base/show-setting.js';
import { compilePattern } from '../files/compile-pattern.js';
import { entryStat, realPath } from '../platform/fs/fs-entry.js';

/** What of an untrusted file's value is taken. */
export interface Tightened {
  /** As in a file; undefined: nothing. */
  readonly value: unknown;
  /** Why it is not all that was asked for. */
  readonly reason?: string;
  /** The value holds entries of the person's own too. */
  readonly isJoined?: true;
}

/** What an untrusted value is measured against. */
export interface TightenScope {
  /** What holds without the file: the person's own configuration, else the default; undefined where neither says. */
  readonly base: unknown;
  /** The person has set it; false: `base` is the default. */
  readonly isBaseNamed: boolean;
  /** The file's own directory, canonical. */
  readonly directory: string;
  /** Canonical: what tools may touch without the file. */
  readonly baseRoots: readonly string[];
  /** Denied patterns of the person's own. */
  readonly ownPatterns: readonly string[];
}

/** What a file that is not trusted may do with a key: never more than would hold without it. */
export interface Tighten {
  /** For the documentation. */
  readonly may: string;
  /** Asked only for values that the key accepts. */
  apply(asked: unknown, scope: TightenScope): Tightened;
}

/** A smaller number. @param unnamed what the default is really worth, where that is less than it says. */
export function smaller(unnamed = Number.POSITIVE_INFINITY): Tighten {
  return {
    may: unnamed === Number.POSITIVE_INFINITY ? 'smaller' : `smaller, and at most ${unnamed}`,
    apply: (asked, { base, isBaseNamed }) => {
      const most = isBaseNamed ? Number(base) : Math.min(Number(base), unnamed);
      return Number(asked) <= most ? { value: asked } : refused(`it may be at most ${showValue(most)} here`);
    },
  };
}

/** A smaller number; any, where nothing is limited without it. */
export const smallerOrAny: Tighten = {
  may: 'smaller',
  apply: (asked, scope) => (scope.base === undefined ? { value: asked } : smaller().apply(asked, scope)),
};

/** A value that is at least as strict. @param order the strictest first. */
export function stricter(...order: readonly unknown[]): Tighten {
  return {
    may: 'stricter',
    apply: (asked, { base }) => {
      const isStricter = order.indexOf(asked) <= order.indexOf(base);
      return isStricter ? { value: asked } : refused(`it may be no looser than ${showValue(base)}`);
    },
  };
}

/** The strict value, and no other. */
export function only(strict: boolean): Tighten {
  return {
    may: `only \`${strict}\``,
    apply: (asked) =>
      asked === strict ? { value: asked } : refused(`it may only say ${showValue(strict)} here`),
  };
}

/** More entries, for lists whose entries forbid and whose value replaces what weaker layers say. */
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

/** More entries than a list that holds where no layer says anything. */
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

/** `true`, which is all; else more entries. */
export const addingRedactions: Tighten = {
  may: 'adds',
  apply: (asked, scope) => {
    if (asked === true) return { value: true };
    if (scope.base === true) return refused('every argument stays left out');
    return asked === false ? refused('it may only add to what is left out') : adding.apply(asked, scope);
  },
};

/** Fewer entries, for lists whose entries permit. */
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

/** For lists that are joined over all layers, and whose entries forbid. */
export const joining: Tighten = { may: 'adds', apply: (asked) => ({ value: asked }) };

/** Rules that deny and ask. */
export const onlyRefusing: Tighten = {
  may: 'denies and asks',
  apply: (asked) => {
    const kept = listOf(asked).filter((rule) => Object(rule).decision !== 'allow');
    const value = kept.length === 0 ? undefined : kept;
    if (kept.length === listOf(asked).length) return { value };
    return { value, reason: 'its rules may deny and ask, and not allow' };
  },
};

/** Text for a model, for example. */
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
 * Roots inside the roots that hold anyway, compared by where they really lead: `link-to-home` is home.
 * The value holds real paths, so that a link which changes later leads nowhere else.
 */
export const tightenRoots: Tighten = { may: 'inside the roots that hold without it', apply: narrow };

function narrow(asked: unknown, { directory, baseRoots, ownPatterns }: TightenScope): Tightened {
  // `secrets/**` speaks of a root's own `secrets`: with a root further down it would no longer hold.
  const relative = ownPatterns.find((pattern) => isRelative(pattern));
  if (relative !== undefined) {
    const reason = `your own denied pattern ${showValue(relative)} speaks of the roots that you chose`;
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
