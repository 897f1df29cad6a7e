import type { Effect } from '../../contract/effect.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { reasonOf } from '../answer/results.js';
import type { FileSettings } from '../call/settings.js';

export interface Placed {
  readonly effects: readonly PlacedEffect[];
  /** The error for the first path that the sandbox refuses. */
  readonly violation?: ToolError;
}

const NONE: Placed = Object.freeze({ effects: Object.freeze([]) });

/** Resolves every declared path before the call runs, so that scheduling and grants use canonical paths. */
export function placeEffects(declared: readonly Effect[], settings: FileSettings): Placed {
  if (declared.length === 0) return NONE;
  const effects: PlacedEffect[] = [];
  let violation: ToolError | undefined;
  for (const effect of declared) {
    try {
      effects.push(place(effect, settings));
    } catch (error) {
      effects.push({ effect });
      violation ??= isToolError(error)
        ? error
        : new ToolError('sandbox_violation', `The sandbox cannot check a path: ${reasonOf(error)}`, {
            cause: error,
          });
    }
  }
  return violation === undefined ? { effects } : { effects, violation };
}

function place(effect: Effect, { sandbox, outputs }: FileSettings): PlacedEffect {
  if ('path' in effect && outputs.owns(effect.path)) return placeOutput(effect);
  switch (effect.kind) {
    case 'read':
    case 'write':
    case 'delete':
      return { effect, at: sandbox.resolve(effect.path, effect.kind) };
    case 'run':
      // The start directory of a command is checked like any path. The OS sandbox limits the paths that the
      // command reaches from there.
      return { effect, at: effect.cwd === undefined ? sandbox.cwd : sandbox.resolve(effect.cwd, 'read') };
    default:
      return { effect };
  }
}

/** A stored output has no place in the file system, and no call may change it. */
function placeOutput(effect: Extract<Effect, { readonly path: string }>): PlacedEffect {
  if (effect.kind === 'read') return { effect, at: effect.path };
  throw new ToolError(
    'sandbox_violation',
    `Cannot ${effect.kind} "${effect.path}": it is a kept output, which can only be read.`,
    { details: { reason: 'ReadOnlyOutput', attempted: effect.path, access: effect.kind } },
  );
}
