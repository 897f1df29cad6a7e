import { relative, resolve } from 'node:path';
import { stringify } from 'smol-toml';
import { showPath } from '../../../base/show-setting.js';
import type { ConfigOrigin, ResolvedConfig, ResolvedSetting } from '../../../config/resolve-config.js';
import { shownValue } from '../../../config/restrain-layer.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { writeJson } from '../../display/terminal-text.js';
import { configNotes, resolveSettings } from '../../resolve-settings.js';

/** The options of the `config` commands, in commander's form. */
interface ShowConfigOptions {
  readonly config?: string;
  readonly origin?: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Writes all current settings as a toolexec.toml. Options of the command override TOOLEXEC_* variables, ' +
        "which override the project's file, which overrides the user's, which overrides the default.",
    )
    .option('--config <file>', "a toolexec.toml instead of the project's")
    .option('--origin', 'show where each setting comes from')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec config show\n  toolexec config show --origin --json\n')
    .action(async (options: ShowConfigOptions) => {
      finish(showConfig(options, context));
    });
};

/** `toolexec config show`: every setting in force. */
export function showConfig(options: ShowConfigOptions, context: CliContext): ExitCode {
  const { stdio, env } = context;
  const resolved = resolveSettings(options, context);
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
          value: shownValue(key, value) ?? null,
          origins,
          ...(itemOrigins === undefined ? {} : { itemOrigins }),
          origin: describeOrigins(origins, resolve('.')),
        },
      ]),
    ),
    project: project ?? null,
    userFile: userFile ?? null,
    administratorFile: administratorFile ?? null,
    ignored,
  };
}

/**
 * The settings in force as a toolexec.toml. With `directory`, the base of shown paths, each line names its
 * origin.
 */
function toToml(settings: readonly ResolvedSetting[], directory?: string): string {
  const sections = new Map<string, ResolvedSetting[]>();
  for (const setting of settings.filter((candidate) => !isTables(candidate))) {
    const section = setting.key.slice(0, setting.key.lastIndexOf('.'));
    sections.set(section, [...(sections.get(section) ?? []), setting]);
  }
  const texts = [...sections].map(
    ([section, members]) => `[${section}]\n${members.map((setting) => toLine(setting, directory)).join('')}`,
  );
  // A table is printed with its sections, so it follows all other settings.
  const tables = settings.filter(isTables).flatMap((setting) => toTables(setting, directory));
  return [...texts, ...tables].join('\n');
}

function toTables(
  { key, value: held, origins, itemOrigins }: ResolvedSetting,
  directory: string | undefined,
): string[] {
  const value = shownValue(key, held);
  const parts = Array.isArray(value)
    ? value.map((item, index) => ({ written: [item], places: itemOrigins?.slice(index, index + 1) }))
    : [{ written: value, places: origins }];
  return parts.map(({ written, places = [] }) => {
    const text = stringify(nest(key.split('.'), written));
    if (directory === undefined || places.length === 0) return text;
    const [header = '', ...lines] = text.split('\n');
    return [withOrigin(header, describeOrigins(places, directory)), ...lines].join('\n');
  });
}

function withOrigin(line: string, origin: string): string {
  return `${line.padEnd(40)} # ${origin}`;
}

function describeOrigins(origins: readonly ConfigOrigin[], directory: string): string {
  return origins.map((origin) => describeOrigin(origin, directory)).join(', ');
}

function describeOrigin(origin: ConfigOrigin, directory: string): string {
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
      return `${origin.kind === 'file' ? '' : `${origin.kind} `}${showPath(relative(directory, origin.file))}:${origin.line}`;
  }
}

function toLine({ key, value, origins }: ResolvedSetting, directory: string | undefined): string {
  const name = key.slice(key.lastIndexOf('.') + 1);
  const text =
    value === undefined ? `# ${name} is not set` : stringify({ [name]: shownValue(key, value) }).trimEnd();
  if (directory === undefined) return `${text}\n`;
  return `${withOrigin(text, describeOrigins(origins, directory))}\n`;
}

function isTables({ value }: ResolvedSetting): boolean {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'object' && first !== null;
}

function nest([name = '', ...rest]: readonly string[], value: unknown): Record<string, unknown> {
  return { [name]: rest.length === 0 ? value : nest(rest, value) };
}
