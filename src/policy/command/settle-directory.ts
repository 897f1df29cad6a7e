import { literalField } from './field.js';
import { judgeTree } from './judge-place.js';
import { HOME, type Scope } from './scope.js';

/** A `cd` that fails leaves the shell where it was; that matters where nothing may be removed. */
export function settleDirectory(scope: Scope): void {
  const { cameFrom, directory } = scope;
  scope.cameFrom = undefined;
  if (cameFrom === undefined || directory === cameFrom || isAlwaysThere(directory)) return;
  if (judgeTree(literalField('.'), cameFrom) !== 'ordinary') scope.directory = undefined;
}

function isAlwaysThere(directory: string | undefined): boolean {
  return directory === '/' || directory === '/tmp' || directory === HOME;
}
