import { resolve } from 'node:path';
import type { ResolvedConfig } from '../../config/resolve-config.js';
import type { ShowConfigOptions } from '../define/define-config.js';
import type { ExitCode } from '../exit-code.js';
import { configNotes, settleConfig } from '../settle-config.js';
import { createDisplay } from '../show/create-display.js';
import { describeOrigin, toToml } from '../show/to-toml.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec config show`: every setting as it holds here. */
export function showConfig(options: ShowConfigOptions, surroundings: Surroundings): ExitCode {
  const { stdio, env } = surroundings;
  const resolved = settleConfig(options, surroundings);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of configNotes(resolved)) display.note(note);
  if (options.json === true) writeJson(stdio.stdout, toJson(resolved));
  else stdio.stdout.write(toToml(resolved.settings, options.origin === true ? resolve('.') : undefined));
  return 0;
}

function toJson({ settings, project, userFile, administratorFile, ignored }: ResolvedConfig): unknown {
  return {
    settings: Object.fromEntries(
      settings.map(({ key, value, origins, itemOrigins }) => [
        key,
        {
          value: value ?? null,
          origins,
          ...(itemOrigins === undefined ? {} : { itemOrigins }),
          origin: origins.map((origin) => describeOrigin(origin, resolve('.'))).join(', '),
        },
      ]),
    ),
    project: project ?? null,
    userFile: userFile ?? null,
    administratorFile: administratorFile ?? null,
    ignored,
  };
}
