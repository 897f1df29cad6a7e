import type { ToolsInput } from '@mastra/core/agent';
import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { HostOptions } from './host-approval.js';
import { mastraToolOptions } from './mastra.js';

const { createTool } = await loadPeer(
  'toolexec/mastra',
  { name: '@mastra/core', range: '^1.0.4' },
  () => import('@mastra/core/tools'),
);

/** A tool in the form that agents of the installed version take. */
export type MastraTool = ToolsInput[string];

/**
 * The executor's tools for an agent of Mastra, by name. A call that needs approval suspends the run; after
 * `approveToolCall` it runs once. If a call that has run is delivered again, it is answered from the journal. A failed
 * call throws.
 * @throws ToolError `config_invalid` without a conversation
 */
export const mastraTools = (executor: Executor, options: HostOptions): Record<string, MastraTool> =>
  Object.fromEntries(mastraToolOptions(executor, options).map((each) => [each.id, createTool(each)]));
