import type { JsonObject } from '../contract/json.js';
import type { AgentName } from './agents.js';

/** A document as an agent sends it, and the expected outcome. */
export interface SampleDocument {
  readonly title: string;
  readonly text: string;
  /** `passes`: it is not denied. `denied`: with a reason. `stopped`: exit code 2. */
  readonly expected: 'passes' | 'denied' | 'stopped';
}

const TOOLS: Readonly<
  Record<AgentName, { readonly before: string; readonly shell: string; readonly write: string }>
> = {
  'claude-code': { before: 'PreToolUse', shell: 'Bash', write: 'Write' },
  codex: { before: 'PreToolUse', shell: 'Bash', write: 'apply_patch' },
  'gemini-cli': { before: 'BeforeTool', shell: 'run_shell_command', write: 'write_file' },
};

/** Documents of each agent, as their published types describe them. */
export function sampleDocuments(agent: AgentName, cwd: string): readonly SampleDocument[] {
  const { before, shell, write } = TOOLS[agent];
  const call = (tool: string, input: JsonObject, id: string): string =>
    JSON.stringify({
      ...envelope(agent, before, cwd),
      tool_name: tool,
      tool_input: input,
      ...idOf(agent, id),
    });
  const outside = '/etc/toolexec-guard-test';
  const change =
    agent === 'codex'
      ? { command: `*** Begin Patch\n*** Add File: ${outside}\n+x\n*** End Patch` }
      : { file_path: outside, content: 'x' };
  // Codex cannot ask about a command, so whether one passes depends on the configuration.
  const harmless =
    agent === 'codex'
      ? { title: 'a harmless call', text: call('list_dir', { dir_path: cwd }, 't1') }
      : { title: 'a harmless command', text: call(shell, { command: 'echo hello' }, 't1') };
  return [
    { ...harmless, expected: 'passes' },
    { title: 'a destructive command', text: call(shell, { command: 'rm -rf /' }, 't2'), expected: 'denied' },
    { title: 'a file outside of the project', text: call(write, change, 't3'), expected: 'denied' },
    { title: 'a document that is none', text: '{"hook_event_name":', expected: 'stopped' },
  ];
}

function envelope(agent: AgentName, event: string, cwd: string): JsonObject {
  const common = { session_id: 'toolexec-guard-test', transcript_path: '', cwd, hook_event_name: event };
  if (agent === 'gemini-cli') return { ...common, timestamp: new Date(0).toISOString() };
  const mode = { ...common, permission_mode: 'default' };
  return agent === 'codex' ? { ...mode, turn_id: 'turn-1', model: 'test' } : mode;
}

function idOf(agent: AgentName, id: string): JsonObject {
  return agent === 'gemini-cli' ? {} : { tool_use_id: id };
}
