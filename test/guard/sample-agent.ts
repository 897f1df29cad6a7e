import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AgentName } from '../../src/guard/agents.js';

export interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AgentSetting {
  readonly agent: AgentName;
  /** Answers a document on standard input. */
  readonly hook: (document: string) => Promise<Answer>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Like some versions: the rest of an answer with a rewrite counts. */
  readonly ignoresRewrites?: boolean;
  /** The person's answer if the hook asks. */
  readonly person?: 'yes' | 'no';
}

/** The outcome of one call of the agent. */
export interface Called {
  readonly ran: boolean;
  /** The text for the model. */
  readonly text: string;
  readonly code?: number | null;
}

const NAMES = {
  'claude-code': { before: 'PreToolUse', after: 'PostToolUse', bash: 'Bash', write: 'Write' },
  codex: { before: 'PreToolUse', after: 'PostToolUse', bash: 'Bash', write: 'Write' },
  'gemini-cli': { before: 'BeforeTool', after: 'AfterTool', bash: 'run_shell_command', write: 'write_file' },
} as const;

/**
 * An agent that obeys the documented rules of hooks: exit codes, decisions, rewrites. Like real agents, it runs the
 * call if a hook fails.
 */
export class SampleAgent {
  readonly #setting: AgentSetting;
  #count = 0;

  constructor(setting: AgentSetting) {
    this.#setting = setting;
  }

  bash(command: string, more: Readonly<Record<string, unknown>> = {}): Promise<Called> {
    return this.call(NAMES[this.#setting.agent].bash, { command, ...more }, async (input) => {
      const { code, stdout, stderr } = await run(String(input.command), '', this.#setting);
      return { ran: true, text: stdout + stderr, code };
    });
  }

  write(path: string, content: string): Promise<Called> {
    return this.call(NAMES[this.#setting.agent].write, { file_path: path, content }, async () => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return { ran: true, text: 'written' };
    });
  }

  edit(path: string, before: string, after: string): Promise<Called> {
    const name = this.#setting.agent === 'gemini-cli' ? 'replace' : 'Edit';
    return this.call(name, { file_path: path, old_string: before, new_string: after }, async () => {
      writeFileSync(path, readFileSync(path, 'utf8').replace(before, after));
      return { ran: true, text: 'edited' };
    });
  }

  /** Sends an event without a tool. */
  event(name: string): Promise<Answer> {
    return this.send({ hook_event_name: name });
  }

  async call(
    tool: string,
    input: Record<string, unknown>,
    perform: (input: Record<string, unknown>) => Promise<Called>,
  ): Promise<Called> {
    const { agent, ignoresRewrites, person } = this.#setting;
    const { before, after } = NAMES[agent];
    const id = agent === 'gemini-cli' ? {} : { tool_use_id: `toolu_${++this.#count}_${process.pid}` };
    const answer = await this.send({ hook_event_name: before, tool_name: tool, tool_input: input, ...id });
    // Codex and Gemini CLI run the call after exit code 2 without a text.
    if (answer.code === 2 && (agent === 'claude-code' || answer.stderr.trim() !== ''))
      return { ran: false, text: answer.stderr };
    const { decision, reason, rewritten } = answer.code === 0 ? read(answer.stdout, agent) : {};
    if (decision === 'deny' || (decision === 'ask' && person !== 'yes'))
      return { ran: false, text: reason ?? '' };
    const changed =
      rewritten === undefined || ignoresRewrites === true
        ? input
        : agent === 'gemini-cli'
          ? { ...input, ...rewritten }
          : rewritten;
    const done = await perform(changed);
    await this.send({
      hook_event_name: after,
      tool_name: tool,
      tool_input: changed,
      tool_response: {},
      ...id,
    });
    return done;
  }

  send(document: Readonly<Record<string, unknown>>): Promise<Answer> {
    const { agent, cwd, hook } = this.#setting;
    const common = { session_id: 'session-1', transcript_path: '', cwd };
    const own =
      agent === 'gemini-cli'
        ? { timestamp: new Date().toISOString() }
        : { permission_mode: 'default', ...(agent === 'codex' ? { turn_id: 't', model: 'm' } : {}) };
    return hook(JSON.stringify({ ...common, ...own, ...document }));
  }
}

interface Read {
  readonly decision?: string;
  readonly reason?: string;
  readonly rewritten?: Record<string, unknown>;
}

function read(stdout: string, agent: AgentName): Read {
  if (stdout.trim() === '') return {};
  const value = JSON.parse(stdout);
  const specific = value.hookSpecificOutput ?? {};
  // Codex runs the call after such an answer, as after a hook that has failed.
  const isRejected =
    specific.permissionDecision === 'ask' ||
    (specific.permissionDecision === 'allow' && specific.updatedInput === undefined) ||
    (specific.permissionDecision === 'deny' && specific.permissionDecisionReason.trim() === '');
  if (agent === 'codex' && isRejected) throw new Error(`Codex rejects the answer ${stdout}`);
  return agent === 'gemini-cli'
    ? { decision: value.decision, reason: value.reason, rewritten: specific.tool_input }
    : {
        decision: specific.permissionDecision,
        reason: specific.permissionDecisionReason,
        rewritten: specific.updatedInput,
      };
}

export function run(
  line: string,
  input: string,
  { cwd, env }: Pick<AgentSetting, 'cwd' | 'env'>,
): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', line], { cwd, env: { ...env } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
