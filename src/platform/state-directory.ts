import { readEnvironment } from './environment.js';
import { stateHome } from './user-directories.js';

/** Where programs keep what must survive them. */
export function stateDirectory(): string {
  return stateHome(readEnvironment());
}
