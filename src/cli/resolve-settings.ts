import { createHash } from 'node:crypto';
import { join, relative, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import type { Configuration, ConfiguredOptions, FleetSettings } from '../config/configuration.js';
import { type ResolvedConfig, resolveConfig } from '../config/resolve-config.js';
import type { Logger } from '../contract/context.js';
import type { JournalFile } from '../executor/executor-options.js';
import { isPostgresAddress } from '../journal/postgres/address.js';
import { JOURNAL_LOSS } from '../journal/sqlite/journal-anchor.js';
import { realPlace } from '../platform/fs/probe-place.js';
import { stateDirectory } from '../platform/runtime/environment.js';
import type { CliContext } from './cli-context.js';
import { UsageError } from './cli-context.js';
import { writeNote } from './display/terminal-text.js';
import { placeOfDatabase } from './journal-databases.js';

/** The command's options about the configuration. */
export interface ConfigOptions {
  readonly root?: readonly string[] | undefined;
  readonly config?: string;
  readonly parallel?: boolean;
  /** The directory in which configuration is searched; left out: the current one. */
  readonly cwd?: string;
}

/**
 * Combines the command's options, environment, project, user and defaults. @throws ToolError `config_invalid`
 */
export function resolveSettings(options: ConfigOptions, { env }: Pick<CliContext, 'env'>): ResolvedConfig {
  const flags: Record<string, unknown> = {};
  if (options.root !== undefined) flags['tools.sandbox.allowed_roots'] = options.root;
  if (options.parallel !== undefined) flags['tools.allow_parallel'] = options.parallel;
  return resolveConfig({
    cwd: resolve(options.cwd ?? '.'),
    env,
    flags,
    ...(options.config === undefined ? {} : { configFile: options.config }),
  });
}

/** The same; the notes about the configuration are reported. */
export function resolveNoted(
  options: ConfigOptions,
  context: Pick<CliContext, 'env' | 'stdio'>,
): ResolvedConfig {
  const resolved = resolveSettings(options, context);
  for (const note of configNotes(resolved)) writeNote(context.stdio, note);
  return resolved;
}

/** Notes about the configuration before anything runs: settings that are not applied are reported. */
export function configNotes({ ignored, warnings }: ResolvedConfig): readonly string[] {
  const untrusted = ignored.map(
    ({ key, value, file, line, reason }) =>
      `${relative(resolve('.'), file)}:${line} sets ${key} = ${JSON.stringify(value)}, which is not applied: ${reason}`,
  );
  const remedy =
    ignored.length === 0
      ? []
      : ['a project that is not trusted may only tighten; look at it, then: toolexec config trust'];
  return [...warnings, ...untrusted, ...remedy];
}

/** For `openExecutor`. */
export interface ExternalSettings {
  readonly externalTools?: NonNullable<Configuration['external']>;
}

export function externalSettings({
  externalTools,
}: {
  readonly externalTools: Configuration['external'];
}): ExternalSettings {
  return externalTools === undefined ? {} : { externalTools };
}

/** The command's options about the environment of calls. */
interface WorldOptions extends ConfigOptions {
  readonly journal?: string;
}

export interface ResolvedRun {
  /** For `createExecutor`. */
  readonly executor: ConfiguredOptions &
    ExternalSettings & {
      readonly root: readonly string[];
      readonly journal: JournalFile;
      readonly logger: Logger;
    };
  readonly fleet: FleetSettings;
  readonly parallel: boolean;
  readonly chat: NonNullable<Configuration['chat']>;
  readonly mcp: NonNullable<Configuration['mcp']>;
  /** Reported before anything runs. */
  readonly notes: readonly string[];
}

/** The configuration with the command's own defaults. @throws UsageError, ToolError config_invalid */
export function resolveRun(options: WorldOptions, context: Pick<CliContext, 'env' | 'stdio'>): ResolvedRun {
  const resolved = resolveSettings(options, context);
  const {
    executor,
    external: externalTools,
    run,
    journal,
    chat = {},
    mcp = {},
    fleet = {},
  } = resolved.configuration;
  const root = executor.root ?? [options.cwd ?? '.'];
  return {
    executor: {
      ...executor,
      ...externalSettings({ externalTools }),
      root,
      // People write paths as they see them; they must still lie inside a root.
      sandbox: { allowAbsolute: true, ...executor.sandbox },
      journal: {
        path: databaseOf(fleet, options.journal) ?? journalPlace(options.journal, root),
        ...journal,
      },
      logger: lossLogger(context),
    },
    fleet,
    parallel: run.parallel ?? false,
    chat,
    mcp,
    notes: configNotes(resolved),
  };
}

/** The journal of a server without tools: it may lie anywhere, because no tool of the server writes. */
export function resolveServed(
  options: WorldOptions,
  context: Pick<CliContext, 'env' | 'stdio'>,
): Pick<ResolvedRun, 'fleet' | 'notes'> & { readonly journal: JournalFile; readonly logger: Logger } {
  const resolved = resolveSettings(options, context);
  const { executor, journal, fleet = {} } = resolved.configuration;
  const named = options.journal ?? defaultPlace(executor.root?.[0] ?? options.cwd ?? '.');
  return {
    journal: { path: databaseOf(fleet, options.journal) ?? journalPlace(named, []), ...journal },
    logger: lossLogger(context),
    fleet,
    notes: configNotes(resolved),
  };
}

/** The place of the fleet's journal. Undefined: a file is named, or no database is configured. */
export function databaseOf(
  { url, tenant, objects }: FleetSettings,
  named: string | undefined,
): string | undefined {
  if (url === undefined || named !== undefined) return undefined;
  return placeOfDatabase({
    url,
    ...(tenant === undefined ? {} : { tenant }),
    ...(objects === undefined ? {} : { objects }),
  });
}

/** Everything else appears in the results. */
function lossLogger({ stdio }: Pick<CliContext, 'stdio'>): Logger {
  return {
    debug: () => {},
    info: () => {},
    warn: ({ problem }, message) => {
      if (problem === JOURNAL_LOSS) writeNote(stdio, message);
    },
    error: () => {},
  };
}

/**
 * The journal's place: the named file, otherwise `$XDG_STATE_HOME/toolexec/<hash of the first
 * root>/journal.db`.
 * @throws UsageError if it lies inside a root, where tools could rewrite their own record.
 */
export function journalPlace(named: string | undefined, roots: readonly string[]): string {
  if (named === '') throw new UsageError('Cannot keep a journal in "": name a file.');
  if (named !== undefined && isPostgresAddress(named)) {
    throw new UsageError(
      'Cannot take an address with --journal: other users of this machine see the options of a command. Write it as fleet.url in a toolexec.toml, or in TOOLEXEC_FLEET_URL.',
    );
  }
  const place = named === undefined ? defaultPlace(roots[0] ?? '.') : resolve(named);
  const root = roots.find((candidate) => covers(realPlace(candidate), realPlace(place)));
  if (root === undefined) return place;
  const remedy =
    named === undefined
      ? 'Choose a smaller --root, or name a --journal outside of it.'
      : 'Name a file outside of it.';
  throw new UsageError(
    `Cannot keep the journal in "${place}": it lies inside the root "${root}", where tools write. ${remedy}`,
  );
}

/** The default place. */
export function defaultPlace(firstRoot: string): string {
  const hash = createHash('sha256').update(realPlace(firstRoot)).digest('hex').slice(0, 32);
  return join(stateDirectory(), 'toolexec', hash, 'journal.db');
}
