import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { quoteWord } from '../base/quote-word.js';
import type { JsonObject } from '../contract/json.js';
import type { ExecutorOptions, JournalFile } from '../executor/executor-options.js';
import { probePlace, realPlace } from '../platform/fs/probe-place.js';
import { type CallingProgram, callingProgram } from '../platform/process/calling-program.js';
import { answerOf, canAsk, type Decision, obeyed, takesInput } from './answer-event.js';
import type { AgentCall, HookDocument } from './document.js';
import { titleOf } from './document.js';
import type { EvaluationWorld, Verdict } from './evaluate-call.js';
import type { GuardState, IssuedCall, LogEntry } from './guard-state.js';
import { type MappedCommand, type MappedTool, mapTool } from './map-tool.js';
import { placedArgs } from './placed-args.js';

export interface GuardedWorld {
  /** From the configuration. */
  readonly options: ExecutorOptions;
  readonly journal: JournalFile;
}

export interface HookWorld {
  readonly state: GuardState;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** The configuration of a root. @throws ToolError `config_invalid` */
  readonly configured: (root: string) => Promise<GuardedWorld>;
  /** Whether commands can run in transactions in a root. */
  readonly canContain: (root: string, options: ExecutorOptions) => Promise<boolean>;
  /** The words that start this program in a shell. */
  readonly program: readonly string[];
}

/**
 * Decides about one event of an agent, and records it. @returns the text for standard output; undefined:
 * nothing
 * @throws any error that prevents a decision; then the agent must be stopped from running the call
 */
export async function runHook(document: HookDocument, world: HookWorld): Promise<JsonObject | undefined> {
  const { event, tool } = document;
  if (event === 'other') return undefined;
  const caller = callingProgram();
  const place: Place = { document, world, caller, root: rootOf(document, world.env) };
  if (tool === undefined) {
    await finishSession(place);
    return undefined;
  }
  if (event === 'after' || event === 'failed') {
    await ended(place, tool);
    return undefined;
  }
  const decision = obeyed(document, await decide(place, tool));
  log(place, tool, decision.input === undefined ? decision.kind : 'contained');
  return answerOf(document, decision);
}

interface Place {
  readonly document: HookDocument;
  readonly world: HookWorld;
  readonly caller: CallingProgram;
  readonly root: string;
}

function log({ document, world }: Place, tool: AgentCall, decision: LogEntry['decision']): void {
  const { agent, eventName: event, session } = document;
  world.state.log({ at: world.now(), agent, event, tool: tool.name, decision, session });
}

/**
 * The agent's project, which has the journal and the configuration, even if the agent has changed its
 * directory.
 */
export function rootOf({ cwd }: Pick<HookDocument, 'cwd'>, env: HookWorld['env']): string {
  const here = realPlace(resolve(cwd));
  for (const name of ['CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR']) {
    const named = env[name];
    if (named?.startsWith('/') && covers(realPlace(named), here)) return realPlace(named);
  }
  for (let at = here; at !== dirname(at); at = dirname(at))
    if (MARKS.some((name) => probePlace(join(at, name)).exists)) return at;
  return here;
}

const MARKS = ['.git', 'toolexec.toml'];

async function decide(place: Place, tool: AgentCall): Promise<Decision> {
  const mapped = mapTool(tool);
  if (mapped.kind === 'own') return { kind: 'none', reason: '' };
  const { options, journal } = await place.world.configured(place.root);
  if (mapped.kind === 'command') return decideCommand(place, tool, mapped, options);
  const world: EvaluationWorld = { options, root: place.root, canContain: false };
  const { evaluateCall } = await import('./evaluate-call.js');
  const verdict = await evaluateCall({ ...place.document, tool }, mapped, world);
  const mayRun = verdict.decision === 'allow' || (verdict.decision === 'ask' && canAsk(place.document));
  if (mayRun && place.document.event === 'before')
    await recordChanges(place, tool, mapped, verdict, { options, journal });
  return { kind: verdict.decision, reason: explained(verdict) };
}

async function recordChanges(
  place: Place,
  tool: AgentCall,
  mapped: Exclude<MappedTool, MappedCommand>,
  verdict: Verdict,
  guarded: GuardedWorld,
): Promise<void> {
  const changes = await changesOf(place, mapped);
  if (changes.length === 0) return;
  const { recordBegin } = await import('./change-record.js');
  const { withRecords } = await import('./open-records.js');
  const { document } = place;
  await withRecords({ ...guarded, ...place, now: place.world.now }, (records) =>
    recordBegin(
      {
        id: idOf(document, tool),
        isMadeUp: tool.useId === undefined,
        session: document.session,
        toolName: mapped.kind === 'call' ? mapped.name : tool.name,
        args: mapped.kind === 'call' ? mapped.args : tool.input,
        reason: verdict.reason,
        isAsked: verdict.decision === 'ask',
        changes,
      },
      records,
    ),
  );
}

async function changesOf({ document, root }: Place, mapped: Exclude<MappedTool, MappedCommand>) {
  const { cwd } = document;
  if (mapped.kind === 'other')
    return mapped.effects.flatMap((effect) =>
      effect.kind === 'write' || effect.kind === 'delete' ? [{ path: resolve(cwd, effect.path) }] : [],
    );
  if (mapped.kind !== 'call') return [];
  return (mapped.changes ?? []).map((change) =>
    'path' in change
      ? { path: resolve(cwd, change.path) }
      : { tool: change.tool, args: placedArgs(change.tool, change.args, cwd, root) },
  );
}

/**
 * If the agent has no call id, we make one: both events of a call have the same id, and so do equal calls of a session.
 */
function idOf({ session }: HookDocument, { name, input, useId }: AgentCall): string {
  if (useId !== undefined) return useId;
  const text = JSON.stringify([session, name, input]);
  return `call_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`;
}

const ISSUED = /(?:^|\s)exec --call (\S+) -- /;

async function decideCommand(
  place: Place,
  tool: AgentCall,
  mapped: MappedCommand,
  options: ExecutorOptions,
): Promise<Decision> {
  const { document, world, root } = place;
  const [, issuedId] = ISSUED.exec(mapped.command) ?? [];
  const issued = issuedId === undefined ? undefined : world.state.issued(issuedId);
  if (issued !== undefined && issued.line === mapped.command) return decideIssued(place, issued);
  const cwd = resolve(document.cwd, mapped.cwd ?? '.');
  // Claude Code refuses a command of a skill that a hook replaces.
  const canReplace = document.event !== 'skill' && !mapped.inBackground;
  const canContain = canReplace && (await world.canContain(root, options));
  const { evaluateCommand } = await import('./evaluate-call.js');
  const { bare, contained } = await evaluateCommand(
    { command: mapped.command, cwd },
    { options, root, canContain },
  );
  if (contained === undefined) return plain(mapped, bare);
  if (contained.decision === 'deny') return { kind: 'deny', reason: contained.reason };
  // In a transaction it would have no effect: the agent's own shell keeps the directory.
  if (contained.decision === 'allow' && staysInside(root, cwd, mapped.command))
    return { kind: 'allow', reason: 'toolexec: it only changes the directory' };
  const version = place.caller.version;
  const arrival = world.state.arrival(document.agent, version);
  const isBareAllowed = bare.decision === 'allow';
  const canRewrite = arrival !== 'ignored' && takesInput(document);
  if (!canRewrite && isBareAllowed) return plain(mapped, bare);
  const isAsked = contained.decision === 'ask';
  const mayRewrite = canRewrite && (isAsked ? canAsk(document) : isBareAllowed || arrival === 'arrives');
  // The person has seen this very command and agreed to it.
  if (isAsked && !mayRewrite) return { kind: 'ask', reason: explained(contained) };
  const call = issue(place, tool, {
    command: mapped.command,
    cwd,
    isAsked,
    how: mayRewrite ? 'rewrite' : 'line',
  });
  if (mayRewrite)
    return { kind: contained.decision, reason: explained(contained), input: mapped.withCommand(call.line) };
  return {
    kind: 'deny',
    reason: `This command is allowed in a transaction, and ${titleOf(document)} has not been seen to run one in its place. Run exactly this line instead: ${call.line}`,
  };
}

/** Whether a command is `cd` and one literal word that leads to a directory of the root. */
function staysInside(root: string, cwd: string, command: string): boolean {
  const [, to] = /^\s*cd[ \t]+([\w@%+=:,./][\w@%+=:,./-]*)\s*$/.exec(command) ?? [];
  return to !== undefined && covers(root, realPlace(resolve(cwd, to)));
}

/** The command runs unchanged. */
function plain({ inBackground }: MappedCommand, bare: Verdict): Decision {
  const note = inBackground && bare.decision === 'ask' ? ' (in the background it is not contained)' : '';
  return { kind: bare.decision, reason: `${explained(bare)}${note}` };
}

/** The line comes from an earlier answer. Other sessions have no use for it. */
function decideIssued({ document }: Place, issued: IssuedCall): Decision {
  if (issued.session !== document.session)
    return { kind: 'deny', reason: 'This line belongs to another session. Run the command itself.' };
  // The line is issued with the question, so the person may not have answered yet, or may have refused.
  if (issued.isAsked)
    return { kind: 'ask', reason: 'toolexec: bash requires approval; it runs in a transaction.' };
  return { kind: 'allow', reason: 'it runs the command in a transaction' };
}

function issue(
  { document, world, caller, root }: Place,
  tool: AgentCall,
  call: Pick<IssuedCall, 'command' | 'cwd' | 'isAsked' | 'how'>,
): IssuedCall {
  const { agent, session } = document;
  const given = tool.useId ?? `${idOf(document, tool)}_${world.now().toString(36)}`;
  const id = /^[A-Za-z0-9_.:-]{1,200}$/.test(given)
    ? given
    : `call_${createHash('sha256').update(given).digest('hex').slice(0, 24)}`;
  const words = [...world.program, 'exec', '--call', id, '--', call.command];
  const issued: IssuedCall = {
    ...{ id, agent, session, root, version: caller.version, at: world.now() },
    ...call,
    line: words.map(quoteWord).join(' '),
  };
  world.state.issue(issued);
  return issued;
}

function explained({ decision, reason }: Verdict): string {
  return decision === 'deny' ? reason : reason === '' ? 'toolexec has no objection' : `toolexec: ${reason}`;
}

/** The agent reports that a call has ended. */
async function ended(place: Place, tool: AgentCall): Promise<void> {
  const { document, world, root } = place;
  const mapped = tryMap(tool);
  if (mapped?.kind === 'command') {
    learnFrom(place, tool, mapped);
    return;
  }
  const isRecorded = mapped?.kind === 'call' ? mapped.changes !== undefined : mapped?.kind === 'other';
  if (!isRecorded || (mapped?.kind === 'other' && !mapped.effects.some(({ kind }) => kind === 'write')))
    return;
  const { recordEnd } = await import('./change-record.js');
  const { withRecords } = await import('./open-records.js');
  const error = document.event === 'failed' ? (tool.error ?? 'it failed') : undefined;
  const id = idOf(document, tool);
  await withRecords({ ...(await world.configured(root)), ...place, now: world.now }, (records) =>
    recordEnd(
      {
        session: document.session,
        id,
        isMadeUp: tool.useId === undefined,
        ...(error === undefined ? {} : { error }),
      },
      records,
    ),
  );
}

/** If a rewritten call has ended without `exec`, this version ignores rewrites. */
function learnFrom({ document, world, caller }: Place, tool: AgentCall, mapped: MappedCommand): void {
  if (document.event !== 'after' || tool.useId === undefined) return;
  const issued = world.state.issued(tool.useId);
  if (issued?.how !== 'rewrite' || world.state.hasArrived(issued.id)) return;
  if (mapped.command === issued.command)
    world.state.learn(document.agent, caller.version, 'ignored', world.now());
}

/** A turn or the session is over, so its open calls have ended. */
async function finishSession(place: Place): Promise<void> {
  const { document, world, root } = place;
  const guarded = await world.configured(root);
  if (document.event === 'end') world.state.sweep(world.now());
  if (!probePlace(guarded.journal.path).exists) return;
  const { closeOpen } = await import('./change-record.js');
  const { withRecords } = await import('./open-records.js');
  await withRecords({ ...guarded, ...place, now: world.now }, (records) =>
    closeOpen(document.session, records),
  );
}

function tryMap(tool: AgentCall): MappedTool | undefined {
  try {
    return mapTool(tool);
  } catch {
    // The call was denied before it began.
    return undefined;
  }
}
