import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { HostOptions } from './host-approval.js';
import type { LangChainTool } from './langchain.js';

const loaded = await loadPeer(
  'toolexec/langchain',
  { name: '@langchain/core', range: '^1.3.4' },
  () => import('./langchain.js'),
);

/**
 * The executor's tools for LangChain and LangGraph. In a graph with a checkpointer, a call that needs approval
 * interrupts the graph; elsewhere it does not run until its ticket is decided. A node that is run again gets the
 * recorded result. A failed call is a `ToolMessage` with the status `error`, or throws if the call had no id.
 * @throws ToolError `config_invalid` without a conversation
 */
export const langchainTools = (executor: Executor, options: HostOptions): LangChainTool[] =>
  loaded.langchainTools(executor, options);
