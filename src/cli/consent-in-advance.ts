import { basename, dirname, resolve } from 'node:path';
import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { PicturePart } from '../contract/picture.js';
import { isInDependencies } from '../files/dependency-folders.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../policy/later-code/later-code.js';

/** What options say in the person's place. */
export interface GivenConsent {
  readonly yes?: boolean;
  readonly approve?: readonly string[];
  readonly approveLaterCode?: boolean;
}

/** Where the calls run, and what runs later there. */
export interface ConsentPlace {
  readonly root: readonly string[];
  readonly policy?: { readonly laterCode?: readonly string[] };
}

/**
 * Consent that was given before there was a question: `--yes`, or `--approve` for some calls. It is none to files that have
 * changed since they were shown; and without `--approve-later-code` none to what runs later by itself, nor to what a
 * command has changed beyond what it was allowed.
 *
 * @param keepOpen where a question can stay open: told why it does
 */
export function consentInAdvance(
  { yes = false, approve = [], approveLaterCode = false }: GivenConsent,
  place: ConsentPlace,
  keepOpen?: (why: string) => void,
): Approver {
  const option = yes ? '--yes' : '--approve';
  const by = approveLaterCode ? `${option} --approve-later-code` : option;
  const later = new LaterPaths(place);
  return async (requests) => {
    const changed = requests.flatMap((request) => request.changed ?? []);
    if (changed.length > 0) throw new Error(`changed since it was shown: ${changed.join(', ')}.`);
    const meant = requests.filter(({ callId }) => yes || approve.includes(callId));
    const reasons = new Map(
      requests.map(({ callId }) => [callId, 'not among the approved ones (--approve)']),
    );
    const ids: string[] = [];
    for (const request of meant) {
      const why = approveLaterCode ? undefined : await whyNot(request, option, later);
      if (why === undefined) ids.push(request.callId);
      else if (keepOpen === undefined || request.changes !== undefined) reasons.set(request.callId, why);
      else {
        keepOpen(`${request.toolName} (${request.callId}) is not decided: ${why}`);
        throw new Error(why);
      }
    }
    return ids.length === requests.length
      ? { kind: 'approve_all', by }
      : { kind: 'approve_selected', by, ids, reasons: Object.fromEntries(reasons) };
  };
}

const HOW = 'Add --approve-later-code where that is meant.';

/** Why the option is no consent to a request; undefined: it is. */
async function whyNot(
  request: ApprovalRequest,
  option: string,
  later: LaterPaths,
): Promise<string | undefined> {
  const { unexpected = [] } = request;
  if (unexpected.length > 0)
    return `${option} approves nothing that was changed beyond what was declared and allowed: ${named(unexpected)}. ${HOW}`;
  // What a command has changed was compared already, file by file.
  const paths = request.changes === undefined ? await later.of(request) : [];
  return paths.length === 0
    ? undefined
    : `${option} approves no change of what runs later by itself: ${named(paths)}. ${HOW}`;
}

function named(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

/** Finds what of a call, as it says or is seen to, would change what runs later by itself. */
class LaterPaths {
  readonly #roots: readonly string[];
  readonly #later: LaterCode;
  readonly #sparesDependencies: boolean;

  constructor({ root, policy }: ConsentPlace) {
    const own = policy?.laterCode;
    this.#roots = root.map((path) => realPlace(resolve(path)));
    this.#later = new LaterCode(own);
    this.#sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
  }

  /** As they are written. */
  async of({ effects, parts = [] }: ApprovalRequest): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const effect of effects) {
      if (effect.kind !== 'write' && effect.kind !== 'delete') continue;
      if (!found.has(effect.path) && (await this.#counts(effect.path, parts))) found.add(effect.path);
    }
    return [...found];
  }

  async #counts(path: string, parts: readonly PicturePart[]): Promise<boolean> {
    const place = this.#placeOf(path);
    // A link is no other name for such a file.
    const real = realPlace(place);
    if (this.#sparesDependencies && isInDependencies(this.#roots, dirname(real))) return false;
    const isNamed = [place, real].filter((one) => this.#later.lies(one, this.#roots));
    if (isNamed.length === 0) return false;
    const shown = contentsOf(parts.filter((part) => 'path' in part && this.#placeOf(part.path) === place));
    if (shown === undefined) return true;
    const { runsTheSame } = await import('../policy/later-code/what-runs.js');
    return !isNamed.every((one) => runsTheSame(basename(one), shown.before, shown.after));
  }

  #placeOf(path: string): string {
    return resolve(this.#roots[0] ?? '.', path);
  }
}

/** The two versions of one file, where all of both is shown. */
function contentsOf(
  parts: readonly PicturePart[],
): { readonly before: Uint8Array | undefined; readonly after: Uint8Array | undefined } | undefined {
  const [part, ...others] = parts;
  if (part === undefined || others.length > 0) return undefined;
  if (part.kind === 'file') return { before: undefined, after: Buffer.from(part.text) };
  if (part.kind !== 'diff' || part.from !== undefined) return undefined;
  const after = part.after === undefined ? undefined : Buffer.from(part.after);
  return { before: Buffer.from(part.before), after };
}
