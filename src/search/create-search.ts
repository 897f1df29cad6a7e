import type { Sandbox } from '../contract/files.js';
import type { ContainedSearch } from '../contract/search.js';
import { findFiles } from './find-files.js';
import { findText } from './find-text.js';

/** Search inside the roots of a sandbox (C030, C031). It keeps nothing open between searches. */
export function createSearch(sandbox: Sandbox): ContainedSearch {
  return {
    files: (request, signal) => findFiles(sandbox, request, signal),
    text: (request, signal) => findText(sandbox, request, signal),
  };
}
