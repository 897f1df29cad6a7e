import { realpathSync } from 'node:fs';
import { findProgram } from './find-program.js';

/** The words that start this program in a shell: its name, if the shell finds exactly this program under it. */
export function ownProgram(name: string): readonly string[] {
  const [, script = ''] = process.argv;
  const own = attempt(() => realpathSync(script)) ?? script;
  return findProgram(name, isLasting).at(0) === own ? [name] : [process.execPath, own];
}

/** npm and npx add directories to the PATH of the programs that they start. Later shells do not have them. */
function isLasting(folder: string): boolean {
  return !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder);
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
