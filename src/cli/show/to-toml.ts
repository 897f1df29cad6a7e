import { relative } from 'node:path';
import type { ConfigOrigin, ResolvedSetting } from '../../config/resolve-config.js';
import { toml } from '../../config/toml.js';

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
  const tables = settings.filter(isTables).flatMap((setting) => toTables(setting, directory));
  return [...texts, ...tables].join('\n');
}

function toTables({ key, value, itemOrigins }: ResolvedSetting, directory: string | undefined): string[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.map((item, index) => {
    const text = toml().stringify(nest(key.split('.'), [item]));
    const origin = directory === undefined ? undefined : itemOrigins?.[index];
    if (origin === undefined || directory === undefined) return text;
    const [header = '', ...lines] = text.split('\n');
    return [withOrigin(header, describeOrigin(origin, directory)), ...lines].join('\n');
  });
}

function withOrigin(line: string, origin: string): string {
  return `${line.padEnd(40)} # ${origin}`;
}

export function describeOrigin(origin: ConfigOrigin, directory: string): string {
  switch (origin.kind) {
    case 'flag':
      return 'option of the command';
    case 'environment':
      return origin.variable;
    case 'default':
      return 'default';
    case 'administrator':
      return `administrator ${origin.file}:${origin.line}`;
    default:
      return `${origin.kind === 'file' ? '' : `${origin.kind} `}${relative(directory, origin.file)}:${origin.line}`;
  }
}

function toLine({ key, value, origins }: ResolvedSetting, directory: string | undefined): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const text =
    value === undefined
      ? `# ${name} is not set`
      : toml()
          .stringify({ [name]: value })
          .trimEnd();
  if (directory === undefined) return `${text}\n`;
  return `${withOrigin(text, origins.map((origin) => describeOrigin(origin, directory)).join(', '))}\n`;
}

function isTables({ value }: ResolvedSetting): boolean {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function nest([name = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  return { [name]: rest.length === 0 ? value : nest(rest, value) };
}
