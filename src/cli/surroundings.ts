import type { Stdio } from '../platform/stdio.js';

/** What a command sees of the process it runs in. */
export interface Surroundings {
  readonly stdio: Stdio;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exitNow: (code: number) => never;
}
