import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { HostOptions } from './host-approval.js';
import type { AgentTool } from './openai-agents.js';

const loaded = await loadPeer(
  'toolexec/openai-agents',
  { name: '@openai/agents', range: '^0.20.0' },
  () => import('./openai-agents.js'),
);

/**
 * The executor's tools for OpenAI's Agents SDK. A call that needs approval interrupts the run, and runs only if the
 * person approved exactly this call; a call that ran is answered from the journal when the same state is resumed again.
 * @throws ToolError `config_invalid` without a conversation, or for two tools whose names the SDK does not distinguish
 */
export const agentTools = <Context = unknown>(
  executor: Executor,
  options: HostOptions,
): AgentTool<Context>[] => loaded.agentTools<Context>(executor, options);
