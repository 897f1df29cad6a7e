import { relative } from 'node:path';
import { stringify } from 'smol-toml';
import type { ConfigOrigin, ResolvedSetting } from '../../config/resolve-config.js';

/**
 * A toolexec.toml that says what holds. With `directory`, which shown paths start from, each line says where it comes
 * from.
 */
export function toToml(settings: readonly ResolvedSetting[], directory?: string): string {
  const sections = new Map<string, ResolvedSetting[]>();
  for (const setting of settings.filter((candidate) => !isTables(candidate))) {
    const section = setting.key.slice(0, setting.key.lastIndexOf('.'));
    sections.set(section, [...(sections.get(section) ?? []), setting]);
  }
  const texts = [...sections].map(
    ([section, members]) => `[${section}]\n${members.map((setting) => toLine(setting, directory)).join('')}`,
  );
  // A list of tables is a section of its own, so it stands behind all that is none.
  const tables = settings.filter(isTables).map(({ key, value }) => stringify(nest(key.split('.'), value)));
  return [...texts, ...tables].join('\n');
}

export function describeOrigin(origin: ConfigOrigin, directory: string): string {
  switch (origin.kind) {
    case 'flag':
      return 'option of the command';
    case 'environment':
      return origin.variable;
    case 'default':
      return 'default';
    default:
      return `${origin.kind === 'file' ? '' : `${origin.kind} `}${relative(directory, origin.file)}:${origin.line}`;
  }
}

function toLine({ key, value, origins }: ResolvedSetting, directory: string | undefined): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const text = value === undefined ? `# ${name} is not set` : stringify({ [name]: value }).trimEnd();
  if (directory === undefined) return `${text}\n`;
  return `${text.padEnd(40)} # ${origins.map((origin) => describeOrigin(origin, directory)).join(', ')}\n`;
}

function isTables({ value }: ResolvedSetting): boolean {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function nest([name = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  return { [name]: rest.length === 0 ? value : nest(rest, value) };
}
