import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { readEnvironment } from './environment.js';

/** Where programs keep what must survive them: `$XDG_STATE_HOME`, else `~/.local/state` (XDG: relative is ignored). */
export function stateDirectory(): string {
  const { XDG_STATE_HOME } = readEnvironment();
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return XDG_STATE_HOME;
  return join(homedir(), '.local', 'state');
}
