import type { CommandChanges, UnkeptChange } from '../contract/changes.js';
import type { JsonObject } from '../contract/json.js';
import type { CommandOutcome, DiscardedWrites } from '../contract/processes.js';

/**
 * The changes of a command, and its lost writes, as `changes` of a result. For a command that writes through,
 * only the latter are known.
 */
export function changesMetadata(
  changes: CommandChanges | undefined,
  writes: DiscardedWrites | undefined,
): JsonObject {
  if (changes === undefined && writes === undefined) return {};
  const more = (changes?.more ?? 0) + (writes?.more ?? 0);
  return {
    changes: {
      ...(changes === undefined ? {} : listsOf(changes)),
      discarded: [...(writes?.paths ?? [])],
      ...(more === 0 ? {} : { more }),
    },
  };
}

function listsOf({ created, modified, deleted, refused, conflicts, unexpected }: CommandChanges): JsonObject {
  return {
    ...(unexpected === undefined ? {} : { unexpected: [...unexpected] }),
    created: [...created],
    modified: [...modified],
    deleted: [...deleted],
    refused: refused.map(toJson),
    conflicts: conflicts.map(toJson),
  };
}

function toJson({ path, reason, ref, later }: UnkeptChange): JsonObject {
  return { path, reason, ...(ref === undefined ? {} : { ref }), ...(later === true ? { later } : {}) };
}

/** Notices for the model about changes that were not committed, with a remedy. One line each. */
export function changeNotices({
  changes,
  discarded,
  discardedBy,
  stderr,
  discardedWrites,
}: Pick<
  CommandOutcome,
  'changes' | 'discarded' | 'discardedBy' | 'stderr' | 'discardedWrites'
>): readonly string[] {
  if ((discardedBy === 'rules' || discardedBy === 'conflict') && changes !== undefined) {
    const { refused, conflicts } = changes;
    return discardedBy === 'rules' ? [refusedNotice(refused)] : [conflictNotice(conflicts, discarded)];
  }
  const outside = discardedWrites === undefined ? [] : [outsideNotice(discardedWrites)];
  if (discardedBy === 'policy') return [beyondNotice(discarded)];
  if (changes === undefined)
    return discarded === undefined ? outside : [`[The changes of this command were not kept: ${discarded}.]`];
  const { conflicts } = changes;
  const pending = changes.refused.filter(({ later }) => later === true);
  return [
    ...(pending.length === 0
      ? []
      : [
          `[Not changed yet, because it cannot be written now: ${listOf(pending)}. It is kept, and will be written before the next command if that is possible then.]`,
        ]),
    ...(conflicts.length === 0
      ? []
      : [
          `[Not kept, because another program changed it while the command ran: ${listOf(conflicts)}. Look at the current files, and run the command again if it is still needed.]`,
        ]),
    ...OVERLAY_LIMITS.flatMap(([said, notice]) => (said.test(stderr.head + stderr.tail) ? [notice] : [])),
    ...outside,
  ];
}

function beyondNotice(why = ''): string {
  return `[The changes of this command were not kept: ${why}. There was no person to ask. Do without these changes, or tell the person why they are needed.]`;
}

function refusedNotice(refused: readonly UnkeptChange[]): string {
  return `[The changes of this command were not kept, because commands may not change ${listOf(refused)}. Run the command again without that change.]`;
}

function conflictNotice(conflicts: readonly UnkeptChange[], why = ''): string {
  const what =
    conflicts.length === 0 ? why : `another program changed or uses the same files: ${listOf(conflicts)}`;
  return `[The changes of this command were not kept: ${what}. Look at the current files, and run the command again if it is still needed.]`;
}
function outsideNotice({ paths, more = 0 }: DiscardedWrites): string {
  const named = paths.slice(0, MOST_NAMED_OUTSIDE).map((path) => JSON.stringify(path));
  const rest = paths.length - named.length + more;
  return `[Lost when this command ended, because it lies outside the roots: ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}. The next command does not find it. Write files that must last into the working directory, or ask the person to make that directory a root.]`;
}

const MOST_NAMED_OUTSIDE = 5;

/** The system's words for what an overlay cannot do, and what to do instead. */
const OVERLAY_LIMITS: readonly (readonly [said: RegExp, notice: string])[] = [
  [
    /invalid cross-device link|EXDEV|cross-device link not permitted/i,
    '[A directory that existed before the command cannot be renamed by rename(2) in a transaction. Use mv, which copies it, or cp -a and rm -r; with git mv, move its files one by one. If the command must rename it, the person can allow that by a rule with write_through = true.]',
  ],
  [
    /value too large for defined data type|EOVERFLOW/i,
    "[A file or directory of another group cannot be changed in a transaction, nor can anything be made in such a directory: a reason for this error. A copy can be changed (cp). The person can give it the user's own group (chgrp), or allow the command by a rule with write_through = true.]",
  ],
];

/** How many entries are named to a model. */
const MOST_NAMED = 20;

function listOf(unkept: readonly UnkeptChange[]): string {
  const named = unkept
    .slice(0, MOST_NAMED)
    .map(
      ({ path, reason, ref }) =>
        `${JSON.stringify(path)} (${reason}${ref === undefined ? '' : `; your version: ${ref}`})`,
    );
  const more = unkept.length - named.length;
  return more === 0 ? named.join(', ') : `${named.join(', ')} and ${more} more`;
}
