import { parseJson } from '../base/parse-json.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { AGENT_TITLES, type AgentName } from './agents.js';

/** A document, or a part of it, was not understood. The call that it may concern is denied. */
export class NotUnderstood extends Error {}

/** `skill`: a shell command in the text of a skill. `other`: an event that changes nothing here. */
export type GuardEvent = 'before' | 'skill' | 'permission' | 'after' | 'failed' | 'stop' | 'end' | 'other';

/** An agent's document on standard input. */
export interface HookDocument {
  readonly agent: AgentName;
  readonly event: GuardEvent;
  /** In the agent's spelling. */
  readonly eventName: string;
  readonly session: string;
  /** Absolute. */
  readonly cwd: string;
  /** The agent's name for its permission mode. If absent: it has none, or this event does not say. */
  readonly mode?: string;
  /** The line of the hook says that the agent runs a call for which a hook says `ask`. */
  readonly neverAsks?: boolean;
  /** Present if and only if the event is about a tool. */
  readonly tool?: AgentCall;
}

export interface AgentCall {
  /** The agent's name for the tool. */
  readonly name: string;
  readonly input: JsonObject;
  /** If absent: the agent has no call ids, or this event has none. */
  readonly useId?: string;
  readonly response?: JsonValue;
  readonly error?: string;
}

const EVENTS: Readonly<Record<string, GuardEvent>> = {
  PreToolUse: 'before',
  BeforeTool: 'before',
  PreSkillShellCommand: 'skill',
  PermissionRequest: 'permission',
  PostToolUse: 'after',
  AfterTool: 'after',
  PostToolUseFailure: 'failed',
  PermissionDenied: 'failed',
  Stop: 'stop',
  AfterAgent: 'stop',
  SessionEnd: 'end',
};

/** Events that need no decision. */
const OTHERS = new Set([
  ...[
    'PostToolBatch',
    'Notification',
    'UserPromptSubmit',
    'UserPromptExpansion',
    'SessionStart',
    'StopFailure',
  ],
  ...[
    'SubagentStart',
    'SubagentStop',
    'PreCompact',
    'PostCompact',
    'PreModelSwitch',
    'PostModelSwitch',
    'Setup',
    'TeammateIdle',
  ],
  ...['TaskCreated', 'TaskCompleted', 'Elicitation', 'ElicitationResult', 'ConfigChange', 'WorktreeCreate'],
  ...[
    'WorktreeRemove',
    'InstructionsLoaded',
    'CwdChanged',
    'FileChanged',
    'DirectoryAdded',
    'MessageDisplay',
  ],
  ...['BeforeAgent', 'BeforeModel', 'AfterModel', 'BeforeToolSelection', 'PreCompress'],
]);

/** The agent waits for a decision. */
export const DECIDED: ReadonlySet<GuardEvent> = new Set(['before', 'skill', 'permission']);
const ABOUT_TOOLS: ReadonlySet<GuardEvent> = new Set([...DECIDED, 'after', 'failed']);

/**
 * Reads one document. @param agent from `--for`; left out: recognised from the document
 * @throws NotUnderstood
 */
export function readDocument(text: string, agent?: AgentName): HookDocument {
  const value = parse(text);
  const eventName = textIn(value, 'hook_event_name');
  const known = Object.hasOwn(EVENTS, eventName) ? EVENTS[eventName] : undefined;
  const event = known ?? (OTHERS.has(eventName) ? 'other' : undefined);
  if (event === undefined) throw new NotUnderstood(`the event ${JSON.stringify(eventName)} is not known`);
  const base = {
    agent: agent ?? agentOf(value, eventName),
    event,
    eventName,
    session: textIn(value, 'session_id'),
    cwd: textIn(value, 'cwd'),
    ...(typeof value.permission_mode === 'string' ? { mode: value.permission_mode } : {}),
  };
  // An answer in another agent's shape means nothing to this one, which would run the call.
  if (DECIDED.has(event) && (eventName === 'BeforeTool') !== (base.agent === 'gemini-cli'))
    throw new NotUnderstood(
      `${eventName} is not an event of ${titleOf(base)}: the line of the hook belongs to another agent. Run toolexec guard install for this one`,
    );
  if (!base.cwd.startsWith('/'))
    throw new NotUnderstood(`cwd is not an absolute path: ${JSON.stringify(base.cwd)}`);
  return ABOUT_TOOLS.has(event) ? { ...base, tool: toolIn(value) } : base;
}

function parse(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new NotUnderstood(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw new NotUnderstood('it is not a JSON object');
  return value;
}

function textIn(value: JsonObject, key: string): string {
  const text = value[key];
  if (typeof text === 'string' && text !== '') return text;
  throw new NotUnderstood(`${key} is missing, or is not a text`);
}

function toolIn(value: JsonObject): AgentCall {
  const { tool_input: input, tool_use_id: useId, tool_response: response, error } = value;
  if (!isObject(input)) throw new NotUnderstood('tool_input is missing, or is not an object');
  return {
    name: textIn(value, 'tool_name'),
    input,
    ...(typeof useId === 'string' && useId !== '' ? { useId } : {}),
    ...(response === undefined ? {} : { response }),
    ...(typeof error === 'string' ? { error } : {}),
  };
}

/** Gemini CLI has other event names and sends a time; Codex names the turn. */
function agentOf(value: JsonObject, eventName: string): AgentName {
  if (/^(?:Before|After)(?:Tool|Agent|Model)|^PreCompress$/.test(eventName)) return 'gemini-cli';
  if (typeof value.turn_id === 'string') return 'codex';
  const isShared = /^(?:Session(?:Start|End)|Notification)$/.test(eventName);
  return isShared && typeof value.timestamp === 'string' && value.permission_mode === undefined
    ? 'gemini-cli'
    : 'claude-code';
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of the sender in messages. */
export function titleOf({ agent }: Pick<HookDocument, 'agent'>): string {
  return AGENT_TITLES[agent];
}
