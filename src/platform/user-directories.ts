import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where programs keep what the person has configured: `$XDG_CONFIG_HOME`, else `~/.config`. */
export function configHome(env: Environment): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(home(env), '.config');
}

/** Where programs keep what must survive them: `$XDG_STATE_HOME`, else `~/.local/state`. */
export function stateHome(env: Environment): string {
  return absolute(env.XDG_STATE_HOME) ?? join(home(env), '.local', 'state');
}

function home(env: Environment): string {
  return absolute(env.HOME) ?? homedir();
}

/** XDG: what is relative is ignored. */
function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}
