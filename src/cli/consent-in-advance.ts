import { basename, dirname, resolve } from 'node:path';
import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { PicturePart } from '../contract/picture.js';
import type { NamesOf } from '../executor/plan/later-names.js';
import { binaryEntry, readBinaryLink, toBinary, toText } from '../platform/fs/binary-fs.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { type ConfiguredPlace, LaterPlace } from './later-place.js';

/** Options that answer instead of the person. */
export interface GivenConsent {
  readonly yes?: boolean;
  readonly approve?: readonly string[];
  readonly approveLaterCode?: boolean;
}

/**
 * Approval by option: `--yes`, or `--approve` for some calls. It does not cover files that have changed since
 * they were shown. Without `--approve-later-code` it covers neither code that runs later by itself, nor
 * changes of a command beyond its permission.
 *
 * @param keepOpen receives the reason when an option leaves a question open
 */
export function consentInAdvance(
  { yes = false, approve = [], approveLaterCode = false }: GivenConsent,
  place: ConfiguredPlace,
  keepOpen?: (why: string) => void,
): Approver {
  const option = yes ? '--yes' : '--approve';
  const by = approveLaterCode ? `${option} --approve-later-code` : option;
  const later = new LaterPlace(place);
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

const HOW = 'Add --approve-later-code if that is intended.';

/** Why the option does not approve a request; undefined if it does. */
async function whyNot(
  request: ApprovalRequest,
  option: string,
  later: LaterPlace,
): Promise<string | undefined> {
  const { unexpected = [] } = request;
  if (unexpected.length > 0)
    return `${option} does not approve changes beyond the declared and allowed ones: ${list(unexpected)}. ${HOW}`;
  // The changes of a command were already compared, file by file.
  const paths = request.changes === undefined ? await laterPaths(request, later) : [];
  return paths.length === 0
    ? undefined
    : `${option} does not approve changes to files that run later by themselves: ${list(paths)}. ${HOW}`;
}

function list(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

/** The paths of a call, declared or observed, that run later by themselves. As written. */
async function laterPaths(
  { effects, parts = [] }: ApprovalRequest,
  later: LaterPlace,
): Promise<readonly string[]> {
  const found = new Set<string>();
  const changed = effects.flatMap((one) => (one.kind === 'write' || one.kind === 'delete' ? [one.path] : []));
  if (changed.length === 0) return [];
  const namesOf = await later.otherNames();
  for (const path of changed)
    if (!found.has(path) && (await counts(path, parts, later, namesOf))) found.add(path);
  return [...found];
}

async function counts(
  path: string,
  parts: readonly PicturePart[],
  later: LaterPlace,
  namesOf: NamesOf,
): Promise<boolean> {
  const place = later.at(path);
  const target = behindLinks(place);
  // A link is not a way around the rule, whichever of its ends has the name.
  const named = [...[place, target].filter((one) => later.lies(one)), ...namesOf(target)];
  if (named.length === 0) return false;
  const shown = contentsOf(parts.filter((part) => 'path' in part && later.at(part.path) === place));
  if (shown === undefined) return true;
  const { runsTheSame } = await import('../policy/later-code/what-runs.js');
  return !named.every((one) => runsTheSame(basename(one), shown.before, shown.after));
}

/** The target of a path, also through links whose target does not exist yet. */
function behindLinks(path: string): string {
  let at = realPlace(path);
  for (let links = 0; links < MOST_LINKS; links++) {
    if (binaryEntry(toBinary(at))?.kind !== 'link') return at;
    at = realPlace(resolve(dirname(at), toText(readBinaryLink(toBinary(at)))));
  }
  return at;
}

const MOST_LINKS = 40;

/** Both versions of a file, if both are shown completely. */
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
