import { configSchema } from '../../config/config-schema.js';
import type { ExitCode } from '../exit-code.js';
import { toSafeJson } from '../show/to-safe-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec config schema`: for the editor, so written to be read. */
export function writeConfigSchema({ stdio }: Surroundings): ExitCode {
  stdio.stdout.write(`${toSafeJson(configSchema(), 2)}\n`);
  return 0;
}
