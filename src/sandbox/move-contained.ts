import { ToolError } from '../errors/tool-error.js';
import { moveEntry, removeEntry } from '../platform/fs-entry.js';
import { admit, type Enclosure } from './enclosure.js';
import { fileSystemError, withFailures } from './file-failure.js';
import { type HeldPlace, holdPlace } from './hold.js';

const ENTRY_ITSELF = { access: 'write', followLast: false, createParents: false } as const;

/** Removes a file, or a link and not what it leads to. */
export function removeContained(enclosure: Enclosure, asked: string): void {
  const request = admit(enclosure, asked, 'write');
  withFailures('remove', asked, () => {
    const held = holdPlace(enclosure, request, ENTRY_ITSELF);
    try {
      assertIsNoDirectory(held);
      removeEntry(held.at);
    } finally {
      held.place.parent.close();
    }
  });
}

/**
 * Gives a file or a link another name; what had that name is replaced. Directories are refused: below another
 * name, what a pattern denies by its place (`a/secret.txt`) would no longer be denied.
 */
export function renameContained(enclosure: Enclosure, from: string, to: string): void {
  const source = admit(enclosure, from, 'write');
  const target = admit(enclosure, to, 'write');
  const held = withFailures('rename', from, () => holdPlace(enclosure, source, ENTRY_ITSELF));
  try {
    withFailures('rename', from, () => assertIsNoDirectory(held));
    withFailures('rename', to, () => {
      const destination = holdPlace(enclosure, target, ENTRY_ITSELF);
      try {
        assertHasDirectory(to, destination);
        if (destination.entry?.isDirectory() === true) throw fileSystemError('EISDIR');
        moveEntry(held.at, destination.at);
      } finally {
        destination.place.parent.close();
      }
    });
  } finally {
    held.place.parent.close();
  }
}

function assertIsNoDirectory({ entry }: HeldPlace): void {
  if (entry === undefined) throw fileSystemError('ENOENT');
  if (entry.isDirectory()) throw fileSystemError('EISDIR');
}

function assertHasDirectory(asked: string, { place }: HeldPlace): void {
  if (place.missing.length === 0) return;
  throw new ToolError(
    'execution_failed',
    `Cannot rename to ${JSON.stringify(asked)}: its directory does not exist. Create it first.`,
    { details: { errno: 'ENOENT', path: asked } },
  );
}
