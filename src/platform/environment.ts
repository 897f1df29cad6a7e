/** A copy of the process's environment: changing it changes nothing outside. */
export function readEnvironment(): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined) copy[name] = value;
  }
  return copy;
}

/** Windows looks names up without regard to case; everybody else does not (D120). */
export function environmentIgnoresCase(): boolean {
  return process.platform === 'win32';
}
