import { constants } from 'node:os';

/** `SIGKILL` for 9; undefined for what is no signal here. */
export function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}
