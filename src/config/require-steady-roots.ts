import { resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { showPath, showValue } from '../base/show-setting.js';
import { realPath } from '../platform/fs-entry.js';
import type { LayerSetting } from './config-layer.js';
import { type ConfigProblem, configInvalid } from './config-problem.js';

/**
 * Refuses roots of a trusted project that are links out of it. The hash that a person has trusted says `data`; where a
 * link of that name leads, the next commit says.
 * @throws ToolError `config_invalid` with the real path, which can be written instead.
 */
export function requireSteadyRoots({ value, directory, origins }: LayerSetting): void {
  const problems = (Array.isArray(value) ? value : []).flatMap((root) => {
    const written = resolve(directory, String(root));
    const real = realPath(written);
    if (real === undefined || !covers(directory, written) || covers(directory, real)) return [];
    const message = `${showValue(root)} is a link that leads to ${showValue(real)}. Write that path itself.`;
    return [problemOf(origins, `tools.sandbox.allowed_roots: ${message}`)];
  });
  if (problems.length > 0) throw configInvalid(problems);
}

function problemOf([origin]: LayerSetting['origins'], message: string): ConfigProblem {
  const at =
    origin !== undefined && 'file' in origin ? `${showPath(origin.file)}:${origin.line}` : 'toolexec.toml';
  return { noun: 'the configuration', source: at, message: () => message };
}
