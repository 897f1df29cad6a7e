import type { Field } from './field.js';
import { SECRET_FILE } from './known-places.js';
import { showPlace, toPlace } from './place.js';
import type { Scope } from './scope.js';
import type { Stream } from './stream.js';

/** What comes of reading a file, when it is one that holds secrets. */
export function readsSecret(field: Field, scope: Scope): Stream | undefined {
  const path = showPlace(toPlace(field, scope.directory));
  return SECRET_FILE.test(path) && !/\.(?:example|sample|template)$/.test(path)
    ? { kind: 'secret', path: field.shown }
    : undefined;
}
