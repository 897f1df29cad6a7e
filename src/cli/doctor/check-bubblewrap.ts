import type { ConfiguredOptions } from '../../config/configuration.js';
import { findWall } from '../../process/wall/find-wall.js';
import type { Check } from './check.js';

/** Which wall of the system stands around commands: bubblewrap is often there and not allowed to build any. */
export async function checkBubblewrap(sandbox: ConfiguredOptions['sandbox'] = {}): Promise<Check> {
  const { os = 'preferred', network = false } = sandbox;
  const wall = await findWall();
  if (os === 'off') {
    return {
      name: 'bubblewrap',
      state: 'missing',
      found: wall.stands
        ? `${wall.file} can isolate, and is switched off`
        : `${wall.reason}, and it is switched off`,
      costs:
        'Commands run as you, with your files and your network: what they may do rests on consent alone.',
      remedy: 'Say sandbox = "preferred" or "required" under [tools.run_command].',
    };
  }
  if (wall.stands) {
    const reach = network ? 'they reach the network' : 'without network';
    return { name: 'bubblewrap', state: 'ok', found: `${wall.file} isolates commands, ${reach} (${os})` };
  }
  const costs =
    os === 'required'
      ? 'An OS sandbox is required, so no command runs: they are answered sandbox_violation.'
      : 'There is no wall of the system around commands: every one asks, also where a rule allows it, and runs as you.';
  return { name: 'bubblewrap', state: 'missing', found: wall.reason, costs, remedy: wall.remedy };
}
