import { findShell } from '../../platform/find-shell.js';
import type { Check } from './check.js';

export function checkShell(name: 'sh' | 'bash', searchPath: string | undefined): Check {
  const path = findShell(name, searchPath);
  if (path !== undefined) return { name, state: 'ok', found: path };
  return {
    name,
    state: 'missing',
    found: 'not found',
    costs: `The tool ${name === 'sh' ? 'run_command' : 'bash'} answers spawn_failed.`,
    remedy: `Install ${name}${name === 'bash' ? ': apt install bash, apk add bash or brew install bash' : ''}.`,
  };
}
