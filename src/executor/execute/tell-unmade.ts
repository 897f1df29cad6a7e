import { resolve } from 'node:path';
import { covers } from '../../base/covers.js';
import type { CommandChanges, UnkeptChange } from '../../contract/changes.js';
import { ToolError } from '../../errors/tool-error.js';
import { changeNotices, changesMetadata } from '../../tools/command-changes.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** Changes that could not be committed. */
export type Unmade = Pick<CommandChanges, 'refused' | 'conflicts'>;

/**
 * Adapts the value of a tried call when some of its changes could not be committed: the result of a command
 * lists the missing changes, and any other tool fails.
 * @param value the value that the tool returned in the trial
 * @param root the directory to which paths are relative
 * @throws ToolError `execution_failed`
 */
export function tellUnmade(value: unknown, ready: ReadyCall, unmade: Unmade, root: string): unknown {
  if (ready.onlyReads || unmade.refused.length + unmade.conflicts.length === 0) return value;
  if (runsProcesses(ready)) return ofCommand(value, unmade);
  const failed = [...unmade.refused, ...unmade.conflicts].find(({ path }) => {
    const at = resolve(root, path);
    return ready.effects.some((effect) => effect.at !== undefined && covers(effect.at, at));
  });
  if (failed === undefined) return value;
  const then =
    failed.later === true ? ' It will be committed before the next command if that is possible then.' : '';
  throw new ToolError(
    'execution_failed',
    `Cannot commit the change of "${failed.path}": ${failed.reason}.${then}`,
  );
}

/**
 * Whether the call changes files through a command, or through the program that its tool is. Its changes are
 * then reported when the command or program ends.
 */
export function runsProcesses({ tool, declared }: ReadyCall): boolean {
  return tool.program !== undefined || declared.some(({ kind }) => kind === 'run');
}

function ofCommand(value: unknown, unmade: Unmade): unknown {
  const given = typeof value === 'object' && value !== null ? value : { text: value };
  const {
    text,
    metadata,
    structured,
  }: Readonly<Partial<Record<'text' | 'metadata' | 'structured', unknown>>> = given;
  const known = changesIn(metadata);
  if (known === undefined) return value;
  const { created, modified, deleted, refused, conflicts } = known;
  const listed = new Set([...created, ...modified, ...deleted]);
  const concerns = ({ path }: UnkeptChange): boolean => listed.has(path) || known.more !== undefined;
  const missing = { refused: unmade.refused.filter(concerns), conflicts: unmade.conflicts.filter(concerns) };
  const lost = new Set([...missing.refused, ...missing.conflicts].map(({ path }) => path));
  if (lost.size === 0) return value;
  const rest = (paths: readonly string[]): readonly string[] => paths.filter((path) => !lost.has(path));
  const changes: CommandChanges = {
    ...known,
    ...{ created: rest(created), modified: rest(modified), deleted: rest(deleted) },
    refused: [...refused, ...missing.refused],
    conflicts: [...conflicts, ...missing.conflicts],
  };
  const notice = changeNotices({ changes: { ...changes, ...missing }, stderr: NOTHING });
  return {
    ...given,
    text: `${textOf(text, structured).replace(/\n?$/, '\n')}\n${notice.join('\n')}\n`,
    metadata: { ...Object(metadata), ...changesMetadata(changes, { paths: known.discarded }) },
  };
}

/** A structured answer without a text is shown as JSON. */
function textOf(text: unknown, structured: unknown): string {
  if (typeof text === 'string') return text;
  return structured === undefined ? '' : JSON.stringify(structured);
}

const NOTHING = { head: '', tail: '', totalBytes: 0, omittedBytes: 0, binary: false };

/** `more` counts the paths that were left out of all lists. */
type KnownChanges = CommandChanges & { readonly discarded: readonly string[] };

/** Reads the changes from the metadata of a tool that runs commands. */
function changesIn(metadata: unknown): KnownChanges | undefined {
  const changes: unknown = Object(metadata).changes;
  const lists = ['created', 'modified', 'deleted', 'refused', 'conflicts', 'discarded'];
  const isGiven = lists.every((name) => Array.isArray(Object(changes)[name]));
  return isGiven ? (changes as KnownChanges) : undefined;
}
