import { openSync, readdirSync, readFileSync } from 'node:fs';

type Stdio = number | 'pipe' | 'ignore';

/**
 * Keeps descriptors that this program has inherited away from its children. Node closes such descriptors for
 * its children only up to the first gap after 15: an open directory with descriptor 200 would lead a command
 * out of its sandbox.
 * @param stdio what the child gets, by descriptor number.
 */
export function withoutInherited(stdio: readonly Stdio[]): Stdio[] {
  const kept = [...stdio];
  inherited ??= findInherited();
  for (const descriptor of inherited) {
    while (kept.length < descriptor) kept.push('ignore');
    // `ignore` leaves a descriptor above 2 open.
    if (kept[descriptor] === undefined || kept[descriptor] === 'ignore') kept[descriptor] = nothing();
  }
  return kept;
}

/** Read once. Descriptors that Node itself opens later are not inherited by children. */
let inherited: readonly number[] | undefined;
let opened: number | undefined;

function nothing(): number {
  opened ??= openSync('/dev/null', 'r');
  return opened;
}

/** Above that, the list for each child would be too long. */
const HIGHEST = 65_535;
const CLOSE_ON_EXEC = 0o2000000;

/** Empty if the system does not list descriptors, or if children inherit none (macOS, Windows). */
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
    // The descriptor used to read the list.
    return false;
  }
}
