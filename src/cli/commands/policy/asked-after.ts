import { basename } from 'node:path';
import type { MadeChange } from '../../../contract/changes.js';
import { type AllowedDeeds, beyondConsent } from '../../../executor/execute/beyond-consent.js';
import { runsInPart } from '../../../policy/later-code/what-runs.js';
import type { ConfiguredPlace, LaterPlace } from '../../later-place.js';
import type { SeenChanges } from './seen-writes.js';

/** The recorded changes of a command that would be asked about after it has ended. */
export interface AskedAfter {
  readonly surely: readonly string[];
  /** Files of which only a part runs: the record does not show which part changed. */
  readonly perhaps: readonly string[];
}

export const NOT_ASKED_AFTER: AskedAfter = { surely: [], perhaps: [] };

/** Compares recorded changes with the current permission of their call. */
export async function askedAfter(
  changes: SeenChanges,
  allowed: AllowedDeeds,
  place: LaterPlace,
  policy: ConfiguredPlace['policy'],
): Promise<AskedAfter> {
  const { roots } = place;
  const made = new Map<MadeChange, string>();
  for (const [change, names] of [
    ['create', changes.created],
    ['modify', changes.modified],
    ['delete', changes.deleted],
  ] as const)
    for (const name of names) made.set(toMade(name, change, place), name);
  const sandbox = { roots, cwd: roots[0] ?? '.' };
  const beyond = await beyondConsent([...made.keys()], allowed, { sandbox, policy });
  const isByPath = allowed.agreed === undefined && allowed.consent?.patterns !== undefined;
  const surely: string[] = [];
  const perhaps: string[] = [];
  for (const change of beyond.keys()) {
    const name = made.get(change) ?? change.path;
    const isSure = isByPath || !runsInPart(basename(change.path)) || changes.unexpected?.includes(name);
    (isSure === true ? surely : perhaps).push(name);
  }
  return { surely, perhaps };
}

/** No version of the file is available: unreadable content counts as code. */
function toMade(name: string, change: MadeChange['change'], place: LaterPlace): MadeChange {
  const kind = name.endsWith('/') ? 'dir' : 'file';
  const path = place.at(name);
  // Git's own files were checked when they were committed.
  const isHarmless = /(?:^|\/)\.git\//.test(path);
  return { path, kind, change, isHarmless, before: unreadable, after: unreadable, linkText: () => undefined };
}

function unreadable(): Uint8Array {
  return new Uint8Array([0]);
}
