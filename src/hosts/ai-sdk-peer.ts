import { loadPeer } from '../base/load-peer.js';
import type { Executor } from '../contract/executor.js';
import type { AiTools } from './ai-sdk.js';
import type { HostOptions } from './host-approval.js';

const loaded = await loadPeer(
  'toolexec/ai-sdk',
  { name: 'ai', range: '^7.0.0' },
  () => import('./ai-sdk.js'),
);

/**
 * The executor's tools for the Vercel AI SDK. A call runs only if the policy allows it, or if the person was asked
 * about exactly this call and approved it. If a call that has run is delivered again, it is answered from the journal.
 * @throws ToolError `config_invalid` without a conversation
 */
export const aiTools = (executor: Executor, options: HostOptions): AiTools =>
  loaded.aiTools(executor, options);
