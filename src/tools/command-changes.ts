import type { JsonObject } from '../contract/json.js';
import type { CommandChanges, CommandOutcome, UnkeptChange } from '../contract/processes.js';

/** What a command has changed, as results carry it. */
export function changesMetadata({
  created,
  modified,
  deleted,
  refused,
  conflicts,
  more,
}: CommandChanges): JsonObject {
  return {
    created: [...created],
    modified: [...modified],
    deleted: [...deleted],
    refused: refused.map(toJson),
    conflicts: conflicts.map(toJson),
    ...(more === undefined ? {} : { more }),
  };
}

function toJson({ path, reason, ref, later }: UnkeptChange): JsonObject {
  return { path, reason, ...(ref === undefined ? {} : { ref }), ...(later === true ? { later } : {}) };
}

/** For the model: what of its changes was not made, and what it can do. A line each. */
export function changeNotices({
  changes,
  discarded,
  stderr,
}: Pick<CommandOutcome, 'changes' | 'discarded' | 'stderr'>): readonly string[] {
  if (changes === undefined)
    return discarded === undefined ? [] : [`[Nothing of what this command changed was kept: ${discarded}.]`];
  const { conflicts } = changes;
  const refused = changes.refused.filter(({ later }) => later !== true);
  const pending = changes.refused.filter(({ later }) => later === true);
  return [
    ...(pending.length === 0
      ? []
      : [
          `[Not changed yet, because it cannot be written now: ${listOf(pending)}. It is kept, and made before the next command if that is possible then.]`,
        ]),
    ...(refused.length === 0
      ? []
      : [
          `[Not kept, and as it was before: ${listOf(refused)}. Commands may not change that: leave it out.]`,
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
  ];
}

const CROSS_DEVICE = /invalid cross-device link|EXDEV|cross-device link not permitted/i;

/** Entries that are named to a model. */
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
