import type { JournalNote } from '../../contract/journal.js';
import type { ProbeContext, Tool } from '../../contract/tool.js';
import { probeCommand } from '../../tools/command-report.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { grantFilesToLook } from '../call/grant-files.js';
import { Lease } from '../call/lease.js';
import type { RecoverySettings } from '../call/settings.js';
import { runInScope } from '../call/unhandled-errors.js';

export type Verdict = 'applied' | 'not_applied' | 'unknown';

export interface Evidence {
  readonly notes: readonly JournalNote[];
  readonly lastChange: ProbeContext['lastChange'];
}

/** A probe should never take longer than this. */
const PROBE_MS = 5_000;

/**
 * Asks a tool whether a call of a dead process took effect. If the probe throws, hangs or gives any other
 * answer, the verdict is `unknown`.
 */
export async function runProbe(
  ready: ReadyCall,
  { notes, lastChange }: Evidence,
  settings: RecoverySettings,
): Promise<Verdict> {
  const probe = probeOf(ready.tool);
  if (probe === undefined) return 'unknown';
  const lease = new Lease();
  const abort = new AbortController();
  const context: ProbeContext = {
    callId: ready.call.id,
    cwd: settings.sandbox.cwd,
    files: grantFilesToLook(ready, settings, lease),
    signal: abort.signal,
    notes: notes.map(({ kind, at, data }) => ({ ...data, kind, at })),
    lastChange,
  };
  let forget = (): void => {};
  try {
    const verdict = await new Promise<unknown>((resolve, reject) => {
      forget = settings.clock.after(PROBE_MS, () => resolve('unknown'));
      runInScope({ unhandledError: reject }, ask, probe, ready, context).then(resolve, reject);
    });
    return verdict === 'applied' || verdict === 'not_applied' ? verdict : 'unknown';
  } catch (error) {
    const why = String(error);
    settings.logger.warn({ callId: ready.call.id, tool: ready.tool.name, why }, 'a probe failed');
    return 'unknown';
  } finally {
    forget();
    lease.end();
    abort.abort(new Error('the probe is over'));
  }
}

type Probe = NonNullable<Tool['probe']>;

function probeOf({ probe, program }: Tool): Probe | undefined {
  return probe ?? (program === undefined ? undefined : probeProgram);
}

/**
 * The missing note of a process proves nothing: outside the sandbox, a process is noted only after its start.
 */
function probeProgram(args: unknown, context: ProbeContext): Verdict {
  const isKnown = context.notes.some(({ kind }) => kind === 'process');
  return isKnown ? probeCommand(args, context) : 'unknown';
}

async function ask(probe: Probe, { parsed }: ReadyCall, context: ProbeContext): Promise<unknown> {
  return probe(parsed, context);
}
