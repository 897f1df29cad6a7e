import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { ClaudeAgent } from './claude-agent.js';
import type { HostOptions } from './host-approval.js';

const loaded = await loadPeer(
  'toolexec/claude-agent',
  { name: '@anthropic-ai/claude-agent-sdk', range: '^0.3.142' },
  () => import('./claude-agent.js'),
);

/**
 * The executor's tools for the Claude Agent SDK. A call that needs approval runs only if the executor's approver, or
 * `executor.decide`, approved exactly this call; if a call that has run is delivered again, it is answered from the
 * journal. Claude's own tools for files, commands and the network are off, because they would run outside the executor.
 * @throws ToolError `config_invalid` without a conversation
 */
export const claudeAgent = (executor: Executor, options: HostOptions): ClaudeAgent =>
  loaded.claudeAgent(executor, options);
