import type { ProcessEnd, ProcessStart } from '../../platform/spawn.js';
import type { WalledEnd } from './read-report.js';

/** How a command is started, and what the end of the process says of it. */
export interface CommandEntry {
  readonly start: Pick<ProcessStart, 'file' | 'name' | 'args' | 'report' | 'places'>;
  readonly env: Readonly<Record<string, string>>;
  readonly read: (end: ProcessEnd) => WalledEnd;
  /** How the process has ended, once nobody has its output any more; undefined where only the system can say so. */
  readonly told: () => ProcessEnd | undefined;
  readonly close: () => void;
}
