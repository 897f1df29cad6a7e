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
    return discarded === undefined
      ? outside
      : [`[Nothing of what this command changed was kept: ${discarded}.]`];
  const { conflicts } = changes;
  const pending = changes.refused.filter(({ later }) => later === true);
  return [
    ...(pending.length === 0
      ? []
      : [
          `[Not changed yet, because it cannot be written now: ${listOf(pending)}. It is kept, and written before the next command if that is possible then.]`,
        ]),
    ...(conflicts.length === 0
      ? []
      : [
          `[Not kept, because others changed it meanwhile: ${listOf(conflicts)}. Look at what is there now, and run the command again where it is still needed.]`,
        ]),
    ...(CROSS_DEVICE.test(stderr.head + stderr.tail)
      ? [
          '[A directory that was there before the command cannot be renamed by rename(2) in a transaction: mv copies it. Use mv, or cp -a and rm -r; git mv takes the files one by one. Where the command has to rename it, the person can allow that by a rule with write_through = true.]',
        ]
      : []),
    ...outside,
  ];
}

function beyondNotice(why = ''): string {
  return `[Nothing of what this command changed was kept: ${why}. There was no person to ask. Leave that out, or tell the person what it is needed for.]`;
}

function refusedNotice(refused: readonly UnkeptChange[]): string {
  return `[Nothing of what this command changed was kept, because commands may not change ${listOf(refused)}. Leave that out, and run the rest again.]`;
}

function conflictNotice(conflicts: readonly UnkeptChange[], why = ''): string {
  const what = conflicts.length === 0 ? why : `others changed the same meanwhile: ${listOf(conflicts)}`;
  return `[Nothing of what this command changed was kept: ${what}. Look at what is there now, and run the command again where it is still needed.]`;
}
function outsideNotice({ paths, more = 0 }: DiscardedWrites): string {
  const named = paths.slice(0, MOST_NAMED_OUTSIDE).map((path) => JSON.stringify(path));
  const rest = paths.length - named.length + more;
  return `[Gone with this command, because it lies outside of the roots: ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}. The next command does not find it. Write what has to last into the working directory, or ask the person to make that directory a root.]`;
}

const MOST_NAMED_OUTSIDE = 5;

const CROSS_DEVICE = /invalid cross-device link|EXDEV|cross-device link not permitted/i;

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
