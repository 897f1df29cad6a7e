import type { ProcessEnd, ProcessStart } from '../../platform/spawn.js';
import type { WalledEnd } from './read-report.js';

/** How a command is started, and what the end of the process says of it. */
export interface CommandEntry {
  readonly start: Pick<ProcessStart, 'file' | 'name' | 'args' | 'report' | 'places'>;
  readonly env: Readonly<Record<string, string>>;
  readonly read: (end: ProcessEnd) => WalledEnd;
  readonly close: () => void;
}
