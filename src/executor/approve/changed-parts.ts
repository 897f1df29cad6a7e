import type { ChangedEntry, PreviewedChanges } from '../../contract/changes.js';
import type { PicturePart } from '../../contract/picture.js';
import { contentPart } from './picture-parts.js';

/**
 * Shows changes that are not committed yet: first the list of all paths, then the texts of the files that can
 * be shown.
 */
export function changedParts({ entries, notKept }: PreviewedChanges): readonly PicturePart[] {
  if (entries.length + notKept.length === 0) return [];
  const texts: PicturePart[] = [];
  const shown = entries.map(({ content, ...entry }): ChangedEntry => {
    if (content === undefined) return entry;
    const part = contentPart(entry.path, content.before, content.after);
    if (part.kind === 'unshown') return { ...entry, unshown: part.why };
    texts.push(part);
    return entry;
  });
  return [{ kind: 'changes', entries: shown, notKept }, ...texts];
}
