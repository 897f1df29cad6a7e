import type { Report } from '../../platform/report-file.js';
import { signalName } from '../../platform/signal-name.js';
import type { ProcessEnd } from '../../platform/spawn.js';

export interface WalledEnd extends ProcessEnd {
  /** The wall could not be built, and the command did not begin. */
  readonly neverStarted: boolean;
  /** Everything it started has ended too. */
  readonly tidied: boolean;
}

/**
 * What became of a command, by how bubblewrap ended and what was reported from inside: bubblewrap says 137 for a KILL.
 * @param report of `WALLED_PROGRAM`; undefined where there could be none.
 */
export function readReport(end: ProcessEnd, report: Report | undefined): WalledEnd {
  if (report === undefined) return { ...end, neverStarted: false, tidied: false };
  // Most of it is room that nobody has written to.
  const lines = report.text
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  if (lines[0] !== 'started') {
    // The command can reach it too, as anything that the reporting shell has open: then nothing is known but the end.
    const neverStarted = !report.isTouched;
    return { ...end, neverStarted, tidied: neverStarted };
  }
  const last = lines.at(-1)?.startsWith('ended ') === true;
  // Between the two stands what the shell says of those who die by a signal.
  const signalled = last ? lines.length > 2 : true;
  const told = signalled ? bySignal(end) : undefined;
  return { ...(told ?? end), neverStarted: false, tidied: last && end.exitCode !== null };
}

/** What bubblewrap ends with after a report that is whole. */
export function endToldBy(report: Report | undefined): ProcessEnd | undefined {
  const [, status] = /\nended (\d{1,3})\n+$/.exec(report?.text ?? '') ?? [];
  return status === undefined ? undefined : { exitCode: Number(status), signal: null };
}

function bySignal({ exitCode }: ProcessEnd): ProcessEnd | undefined {
  const signal = exitCode === null || exitCode <= 128 ? undefined : signalName(exitCode - 128);
  return signal === undefined ? undefined : { exitCode: null, signal };
}
