import { openSync, readdirSync, readFileSync } from 'node:fs';

type Stdio = number | 'pipe' | 'ignore';

/**
 * Keeps what this program has inherited from the one that started it. Node closes such descriptors for its children only up
 * to the first gap behind 15: a directory that is open as 200 would lead a command out of its sandbox.
 * @param stdio what the child gets, by number.
 */
export function withoutInherited(stdio: readonly Stdio[]): Stdio[] {
  const kept = [...stdio];
  inherited ??= findInherited();
  for (const descriptor of inherited) {
    while (kept.length < descriptor) kept.push('ignore');
    // `ignore` leaves one behind 2 as it is.
    if (kept[descriptor] === undefined || kept[descriptor] === 'ignore') kept[descriptor] = nothing();
  }
  return kept;
}

/** Looked for once: what Node itself opens, no child gets. */
let inherited: readonly number[] | undefined;
let opened: number | undefined;

function nothing(): number {
  opened ??= openSync('/dev/null', 'r');
  return opened;
}

/** Beyond that the list for each child would be too long. */
const HIGHEST = 65_535;
const CLOSE_ON_EXEC = 0o2000000;

/** Empty where the system says nothing of descriptors, and where no child gets any (macOS, Windows). */
function findInherited(): readonly number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => descriptor > 2 && descriptor <= HIGHEST && isPassedOn(descriptor))
      .sort((one, other) => one - other);
  } catch {
    return [];
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The one that the list was read with.
    return false;
  }
}
