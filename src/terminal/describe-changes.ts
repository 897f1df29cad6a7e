import type { ChangedEntry, EntryState } from '../contract/changes.js';
import type { ChangesPart } from '../contract/picture.js';

interface ChangeGroup {
  readonly sign: '!' | '-' | '~' | '+';
  readonly word: string;
  readonly entries: readonly ChangedEntry[];
}

/** Groups entries by kind of change, in display order, without empty groups. */
export function groupChanges({ entries }: ChangesPart): readonly ChangeGroup[] {
  const expected = entries.filter(({ unexpected }) => unexpected === undefined);
  const of = (change: ChangedEntry['change']) => expected.filter((entry) => entry.change === change);
  const groups: readonly ChangeGroup[] = [
    {
      sign: '!',
      word: 'beyond what was allowed',
      entries: entries.filter(({ unexpected }) => unexpected !== undefined),
    },
    { sign: '-', word: 'deleted', entries: of('delete') },
    { sign: '~', word: 'modified', entries: of('modify') },
    { sign: '+', word: 'created', entries: of('create') },
  ];
  return groups.filter((group) => group.entries.length > 0);
}

/**
 * The number of changed paths by kind: `302 changes, not kept yet: 1 deleted (1 link), 301 created (301
 * files)`.
 */
export function countChanges(part: ChangesPart): string {
  const { entries, notKept } = part;
  const groups = groupChanges(part).map(
    (group) => `${group.entries.length} ${group.word} (${countKinds(group.entries)})`,
  );
  const changed = `${counted(entries.length, 'change', 'changes')}, not kept yet${groups.length === 0 ? '' : ': '}`;
  const left = notKept.length === 0 ? '' : `; ${notKept.length} that will not be kept`;
  return `${changed}${groups.join(', ')}${left}`;
}

function countKinds(entries: readonly ChangedEntry[]): string {
  const counts = new Map<Kind, number>();
  for (const entry of entries) counts.set(kindOf(entry), (counts.get(kindOf(entry)) ?? 0) + 1);
  return [...counts].map(([kind, count]) => counted(count, KINDS[kind][0], KINDS[kind][1])).join(', ');
}

type Kind = keyof typeof KINDS;

const KINDS = {
  file: ['file', 'files'],
  dir: ['directory', 'directories'],
  link: ['link', 'links'],
  special: ['special file', 'special files'],
  fileMode: ['file mode', 'file modes'],
  dirMode: ['directory mode', 'directory modes'],
  sameFile: ['file with the same content', 'files with the same content'],
  other: ['change of kind', 'changes of kind'],
} as const;

function kindOf({ before, after, isSameContent }: ChangedEntry): Kind {
  const { kind } = after ?? before ?? { kind: 'special' };
  if (before === undefined || after === undefined) return kind;
  if (before.kind !== after.kind) return 'other';
  if (kind === 'dir') return 'dirMode';
  if (isSameContent !== true) return kind;
  return before.mode === after.mode ? 'sameFile' : 'fileMode';
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}

function bytes(size: number): string {
  return counted(size, 'byte', 'bytes');
}

/** One change in one line without its sign: the path, then the difference. */
export function describeChange(entry: ChangedEntry): string {
  const { path, change, before, after, isSameContent, unshown, unexpected } = entry;
  const facts = [
    ...(unexpected === undefined
      ? []
      : [WORDS[change], ...(unexpected === 'runs_later' ? ['runs later'] : [])]),
    ...(before === undefined || after === undefined
      ? stateFacts(after ?? before)
      : before.kind === after.kind
        ? differences(before, after, isSameContent === true)
        : [`${describeState(before)} → ${describeState(after)}`]),
    ...(unshown === undefined ? [] : [unshown]),
  ];
  const { kind, target } = after ?? before ?? { kind: 'file' };
  const leads = kind === 'link' && before?.kind !== 'file' && before?.kind !== 'dir';
  const name = leads ? `${nameOf(path)} → ${nameOf(target ?? '?')}` : nameOf(path);
  return facts.length === 0 ? name : `${name}  ${facts.join(', ')}`;
}

const WORDS = { create: 'created', modify: 'modified', delete: 'deleted' } as const;

function stateFacts(state: EntryState | undefined): readonly string[] {
  if (state === undefined || state.kind === 'link') return [];
  const { kind, mode = '', size } = state;
  return [
    ...(kind === 'special' ? [KINDS.special[0]] : []),
    mode,
    ...(size === undefined ? [] : [bytes(size)]),
  ];
}

function differences(before: EntryState, after: EntryState, isSame: boolean): readonly string[] {
  if (after.kind === 'link')
    return [before.target === after.target ? 'the same target' : `was → ${nameOf(before.target ?? '?')}`];
  const modes = before.mode === after.mode ? [] : [`${before.mode} → ${after.mode}`];
  if (after.kind !== 'file') return modes;
  if (isSame) return modes.length > 0 ? modes : ['the same content'];
  const [was, is] = [before.size ?? 0, after.size ?? 0];
  return [...modes, was === is ? bytes(is) : `${was} → ${bytes(is)}`];
}

function describeState(state: EntryState): string {
  if (state.kind === 'link') return `link → ${nameOf(state.target ?? '?')}`;
  const [name] = KINDS[state.kind];
  return [name, ...stateFacts(state).filter((fact) => fact !== name)].join(' ');
}

/** A name that could be misread is quoted. */
function nameOf(path: string): string {
  return /^[^\s",→()]+$/.test(path) ? path : `"${path.replaceAll('"', '\\u{22}')}"`;
}
