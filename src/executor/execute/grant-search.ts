import type { ToolSearch } from '../../contract/search.js';
import { grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { Lease } from '../call/lease.js';
import type { ExecutionSettings } from '../call/settings.js';

interface SearchGrant {
  readonly ready: ReadyCall;
  readonly settings: ExecutionSettings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** Search, restricted to the paths that the call has declared to read. It works only while the call lives. */
export function grantSearch({ ready, settings, lease, signal }: SearchGrant): ToolSearch {
  function require(path: string): void {
    lease.require(`search "${path}"`);
    if (settings.outputs.owns(path)) {
      throw new ToolError(
        'sandbox_violation',
        `Cannot search "${path}": it is a kept output, not a directory. Read it with read_file, by start_line and end_line or by offset and limit.`,
        { details: { reason: 'ReadOnlyOutput', attempted: path, access: 'read' } },
      );
    }
    const asked = settings.sandbox.resolve(path, 'read');
    const granted = ready.effects.some(
      ({ effect, at }) =>
        grantsEverything(effect) ||
        (effect.kind === 'read' && at !== undefined && settings.covers(at, asked)),
    );
    if (granted) return;
    throw new ToolError(
      'sandbox_violation',
      `Cannot search "${path}": ${ready.tool.name} did not declare it.`,
      {
        hint: "Declare { kind: 'read', path } in the effects of the tool.",
        details: { reason: 'UndeclaredEffect', attempted: path, access: 'read' },
      },
    );
  }

  return {
    async files(request) {
      require(request.path);
      return lease.holdProcess(settings.search.files(request, signal));
    },
    async text(request) {
      require(request.path);
      return lease.holdProcess(settings.search.text(request, signal));
    },
  };
}
