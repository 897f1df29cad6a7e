/** A copy of the process's environment: changing it changes nothing outside. */
export function readEnvironment(): Record<string, string> {
  const copy: Record<string, string> = {};
  // Asked for its names alone: whether one is shown is another call out of JavaScript for each.
  for (const name of Object.getOwnPropertyNames(process.env)) {
    const value = process.env[name];
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** Windows looks names up without regard to case; everybody else does not (D120). */
export function environmentIgnoresCase(): boolean {
  return process.platform === 'win32';
}
