import { join } from 'node:path';
import type { HeldEntry } from '../contract/files.js';
import { parseSegment, type Segment } from '../patterns/segment.js';
import { closeDescriptor, readBytes } from '../platform/fs/fs-bytes.js';
import { IGNORE_FILES } from './ignore-files.js';
import { endsBelow } from './path-matcher.js';

const MAX_BYTES = 1024 * 1024;

/**
 * What the ignore files of the directories above, up to the root, say about the files below: the text of an ignore
 * file for the held directory. Ripgrep itself would read those outside of the root as well.
 */
export function inheritedIgnores(held: HeldEntry, components: readonly string[]): string {
  const lines: string[] = [];
  for (const name of IGNORE_FILES) {
    for (let depth = 0; depth < components.length; depth++) {
      const text = readText(held, join(held.root, ...components.slice(0, depth), name));
      const below = components.slice(depth);
      for (const line of text.split('\n')) lines.push(...rulesBelow(line, below));
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** The rule as it reads from further down; none where it does not speak of anything there. */
function rulesBelow(line: string, directories: readonly string[]): readonly string[] {
  const rule = line.replace(/\r$/, '').replace(/(?<!\\)[ \t]+$/, '');
  if (rule === '' || rule.startsWith('#')) return [];
  const mark = rule.startsWith('!') ? '!' : '';
  const end = rule.endsWith('/') ? '/' : '';
  const body = rule.slice(mark.length, rule.length - end.length);
  if (!body.includes('/')) return [rule];
  // An empty part further down matches nothing, there as here.
  const parts = body.replace(/^\//, '').split('/');
  const segments = parseParts(parts);
  if (segments === undefined) return [];
  return endsBelow(segments, directories).map((index) => `${mark}/${parts.slice(index).join('/')}${end}`);
}

function parseParts(parts: readonly string[]): readonly Segment[] | undefined {
  try {
    return parts.map((part) => parseSegment(part, { hasGroups: false }));
  } catch {
    return undefined;
  }
}

function readText(held: HeldEntry, path: string): string {
  try {
    const bytes = held.fileAt(path, (file) => {
      const descriptor = file.openForReading();
      try {
        return readBytes(descriptor, { offset: 0, length: MAX_BYTES, size: file.size });
      } finally {
        closeDescriptor(descriptor);
      }
    });
    return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
  } catch {
    // One that may not be read rules nothing; ripgrep takes those further down the same way.
    return '';
  }
}
