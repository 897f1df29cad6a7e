import type { Field } from './field.js';
import { exactPlace, toPlace } from './place.js';
import type { Scope } from './scope.js';
import { joinStreams, type Stream } from './stream.js';

/** A file that is written and then run is looked at as what was written: `echo … > x; sh x`. */
export function noteWritten(file: Field, scope: Scope, content: Stream): void {
  const path = exactPlace(toPlace(file, scope.directory));
  if (path === undefined || scope.files.size >= MAX_FILES) return;
  const before = scope.files.get(path);
  // Appended or written anew: what was there before may still be what runs.
  scope.files.set(path, before === undefined ? content : joinStreams(before, content));
}

/** What the file is known to hold. */
export function writtenContent(file: Field, scope: Scope): Stream | undefined {
  const path = exactPlace(toPlace(file, scope.directory));
  return path === undefined ? undefined : scope.files.get(path);
}

const MAX_FILES = 64;
