import type { ToolProcesses } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ReadyCall } from '../plan/judged-call.js';
import type { EngineSettings } from '../settings.js';
import type { Lease } from './lease.js';
import type { LiveOutput } from './live-output.js';

const KEPT_BYTES = 1024 * 1024;

export interface ProcessGrant {
  readonly ready: ReadyCall;
  readonly settings: EngineSettings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  /** Undefined: nobody watches, so nothing is decoded while the command runs. */
  readonly live: LiveOutput | undefined;
}

/** Commands, narrowed to those that the call has declared, for as long as the call lives. */
export function grantProcesses({ ready, settings, lease, signal, live }: ProcessGrant): ToolProcesses {
  return {
    async run({ shell, command, cwd, keepBytes }) {
      lease.require('run a command');
      const at = cwd === undefined ? settings.sandbox.cwd : settings.sandbox.resolve(cwd, 'read');
      requireDeclared(ready, command, at);
      const running = settings.runCommand({
        shell,
        command,
        cwd: at,
        env: settings.commandEnvironment(),
        signal,
        keepBytes: keepBytes ?? KEPT_BYTES,
        ...(live === undefined ? {} : { onOutput: (stream, chunk) => live.push(stream, chunk) }),
      });
      return lease.holdProcess(running);
    },
  };
}

function requireDeclared(ready: ReadyCall, command: string, cwd: string): void {
  const declared = ready.effects.some(
    ({ effect, at }) =>
      effect.kind === 'unknown' || (effect.kind === 'run' && effect.command === command && at === cwd),
  );
  if (declared) return;
  throw new ToolError(
    'sandbox_violation',
    `Cannot run a command: ${ready.tool.name} did not declare it. Declare { kind: 'run', command, cwd } in its effects.`,
    { details: { reason: 'UndeclaredEffect', attempted: command, access: 'run' } },
  );
}
