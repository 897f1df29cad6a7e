import { join } from 'node:path';
import { parse, stringify } from 'smol-toml';
import { ToolError } from '../errors/tool-error.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { configHome } from '../platform/runtime/environment.js';
import { updatePrivateFile } from '../platform/sqlite/private-file.js';
import type { PolicyRule } from '../policy/rules/policy-rule.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The path of the person's configuration file, existing or not. */
export function userConfigFile(env: Environment): string {
  return join(configHome(env), 'toolexec', 'config.toml');
}

/** A rule in TOML. */
export function ruleAsToml(rule: PolicyRule): string {
  return stringify({ tools: { approval: { rules: [rule] } } });
}

/**
 * Appends a rule to the person's configuration and keeps the rest byte by byte.
 * @throws ToolError `config_invalid` if the file lists its rules inline; the file then stays unchanged, as it
 * does if the system refuses
 */
export function addUserRule(rule: PolicyRule, env: Environment): void {
  const file = userConfigFile(env);
  updatePrivateFile(realPlace(file), (bytes) => {
    const before = Buffer.from(bytes ?? []).toString('utf8');
    const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
    const text = `${before}${gap}${ruleAsToml(rule)}`;
    try {
      parse(text);
    } catch (cause) {
      const why = `Cannot add a rule to "${file}": its rules are no [[tools.approval.rules]]. Add it by hand.`;
      throw new ToolError('config_invalid', why, { cause });
    }
    return Buffer.from(text);
  });
}
