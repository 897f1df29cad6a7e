import { isToolError } from '../../../errors/tool-error.js';
import { type FleetToken, FleetTokens, TOKEN_SCOPES, type TokenScope } from '../../../fleet/fleet-tokens.js';
import { systemClock } from '../../../platform/clock/clock.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { writeJson, writeNote } from '../../display/terminal-text.js';
import { openStore } from '../../journal-store.js';
import { describeMissing, isRecorded } from '../../recorded-journal.js';
import { resolveServed } from '../../resolve-settings.js';

/** The options of `serve token`, as commander passes them. */
interface TokenOptions {
  readonly tenant?: string;
  readonly scope?: string;
  readonly config?: string;
  readonly journal?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Creates, lists and revokes the tokens with which clients of toolexec serve act for a tenant. A token is shown once; ' +
        'the journal keeps its hash.',
    )
    .argument('<action>', 'create, list or revoke')
    .argument('[id]', 'revoke: the id of the token, as list shows it')
    .option('--tenant <name>', 'create: the tenant whose calls the token can submit and see')
    .option('--scope <names>', `create: what it may do (default: ${TOKEN_SCOPES.join(',')})`)
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal of the server')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      `Examples:
  toolexec serve token create --tenant acme
  toolexec serve token create --tenant acme --scope approve,watch
  toolexec serve token list
  toolexec serve token revoke 3f9a0c51d2e4
`,
    )
    .addHelpText('after', '\nExit code: 0; 2 wrong usage or configuration.\n')
    .action(async (action: string, id: string | undefined, options: TokenOptions) => {
      finish(await manageTokens(action, id, options, context));
    });
};

/** `toolexec serve token`. */
async function manageTokens(
  action: string,
  id: string | undefined,
  options: TokenOptions,
  context: CliContext,
): Promise<ExitCode> {
  const work = readAction(action, id, options);
  const { stdio, env } = context;
  const resolved = resolveServed(options, context);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of resolved.notes) display.note(note);
  const { path, ...more } = resolved.journal;
  if (action === 'list' && !isRecorded(path)) {
    display.note(describeMissing(path));
    writeTokens([], options.json === true, context);
    return 0;
  }
  const journal = await openStore(path, { ...more, logger: resolved.logger });
  try {
    await work(new FleetTokens(journal), context);
    return 0;
  } catch (error) {
    if (isToolError(error, 'bad_args') || isToolError(error, 'journal_unavailable'))
      throw new UsageError(error.message, { cause: error });
    throw error;
  } finally {
    await journal.close();
  }
}

type Work = (tokens: FleetTokens, context: CliContext) => Promise<void>;

/** @throws UsageError */
function readAction(action: string, id: string | undefined, options: TokenOptions): Work {
  const { tenant, scope, json } = options;
  const isCreated = action === 'create';
  if (!isCreated && (tenant ?? scope) !== undefined)
    throw new UsageError(`--tenant and --scope belong to create, not to ${action}.`);
  if (action !== 'revoke' && id !== undefined)
    throw new UsageError(`Cannot use ${JSON.stringify(id)}: only revoke takes an id.`);
  if (isCreated) return create(tenant, readScopes(scope), json === true);
  if (action === 'list') return list(json === true);
  if (action === 'revoke') return revoke(id);
  throw new UsageError(`Cannot ${JSON.stringify(action)} tokens: create, list or revoke is expected.`);
}

function readScopes(given: string | undefined): readonly TokenScope[] {
  if (given === undefined) return TOKEN_SCOPES;
  const names = given.split(',').map((name) => name.trim());
  const known = TOKEN_SCOPES.filter((scope) => names.includes(scope));
  const unknown = names.find((name) => !known.some((scope) => scope === name));
  if (unknown === undefined) return known;
  throw new UsageError(
    `Cannot use --scope ${JSON.stringify(given)}: known scopes are ${TOKEN_SCOPES.join(', ')}.`,
  );
}

function create(tenant: string | undefined, scopes: readonly TokenScope[], asJson: boolean): Work {
  if (tenant === undefined) throw new UsageError('Cannot create a token without --tenant NAME.');
  return async (tokens, { stdio }) => {
    const { text, ...token } = await tokens.create(tenant, scopes, systemClock.now());
    if (asJson) writeJson(stdio.stdout, { ...token, token: text });
    else stdio.stdout.write(`${text}\n`);
    writeNote(stdio, `token ${token.id} of ${tenant} (${scopes.join(', ')}). It is not shown again.`);
  };
}

function list(asJson: boolean): Work {
  return async (tokens, context) => writeTokens(await tokens.list(), asJson, context);
}

function writeTokens(all: readonly FleetToken[], asJson: boolean, { stdio }: CliContext): void {
  if (asJson) writeJson(stdio.stdout, all);
  else if (all.length === 0) stdio.stdout.write('There is no token.\n');
  for (const { id, tenant, scopes, createdAt, revokedAt } of asJson ? [] : all) {
    const since = new Date(createdAt).toISOString().slice(0, 10);
    const state = revokedAt === undefined ? '' : '  revoked';
    stdio.stdout.write(`${id}  ${tenant}  ${scopes.join(',')}  ${since}${state}\n`);
  }
}

function revoke(id: string | undefined): Work {
  if (id === undefined)
    throw new UsageError('Cannot revoke a token without its id: toolexec serve token list.');
  return async (tokens, { stdio }) => {
    if (!(await tokens.revoke(id, systemClock.now())))
      throw new UsageError(`There is no token ${JSON.stringify(id)}: toolexec serve token list.`);
    writeNote(stdio, `token ${id} is revoked`);
  };
}
