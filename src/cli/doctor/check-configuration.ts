import { relative, resolve } from 'node:path';
import type { ResolvedConfig } from '../../config/resolve-config.js';
import { isToolError } from '../../errors/tool-error.js';
import { type ConfigOptions, settleConfig } from '../settle-config.js';
import type { Surroundings } from '../surroundings.js';
import type { Check } from './check.js';

export interface ConfigurationCheck {
  readonly check: Check;
  /** Undefined when it cannot be used. */
  readonly resolved: ResolvedConfig | undefined;
}

export function checkConfiguration(
  options: ConfigOptions,
  surroundings: Pick<Surroundings, 'env'>,
): ConfigurationCheck {
  try {
    const resolved = settleConfig(options, surroundings);
    return { check: judge(resolved), resolved };
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    const remedy = 'Correct it; toolexec config schema helps an editor.';
    const costs = 'No command runs with it.';
    return {
      check: { name: 'configuration', state: 'broken', found: error.message, costs, remedy },
      resolved: undefined,
    };
  }
}

function judge({ project, userFile, administratorFile, ignored }: ResolvedConfig): Check {
  const own = [project?.file, userFile].filter((file) => file !== undefined);
  const files = [
    ...own.map((file) => relative(resolve('.'), file)),
    ...(administratorFile === undefined ? [] : [`${administratorFile} (the administrator's)`]),
  ];
  const found = files.length === 0 ? 'defaults' : files.join(', ');
  if (ignored.length === 0) return { name: 'configuration', state: 'ok', found };
  return {
    name: 'configuration',
    state: 'missing',
    found: `${found}: ${ignored.length} settings are not applied`,
    costs: `A project that is not trusted may only tighten: ${ignored.map(({ key }) => key).join(', ')}.`,
    remedy: 'Look at the file, then: toolexec config trust',
  };
}
