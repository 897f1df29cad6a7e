// The Claude Agent SDK with the executor's tools: a call that changes something asks the approver, and runs once.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { type ApprovalRequest, createExecutor } from 'toolexec';
import { type ClaudeAgent, claudeAgent } from 'toolexec/claude-agent';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const approver = ([request]: readonly ApprovalRequest[]) => {
  assert.equal(request?.summary, 'Create new.txt (4 bytes)');
  return { kind: 'approve_all' } as const;
};
await using executor = createExecutor({ root, approver });
const chatId = 'thread-7';
// In your program: import { query } from '@anthropic-ai/claude-agent-sdk'.
const query = ({ options }: { prompt: string; options: ClaudeAgent }) => playClaude(options);
// #region options
const options = { ...claudeAgent(executor, { conversation: chatId }) };
const answer = await query({ prompt: 'Write new.txt.', options });
// #endregion options
assert.match(JSON.stringify(answer), /Successfully wrote 4 bytes/);
assert.equal(readFileSync(join(root, 'new.txt'), 'utf8'), 'new\n');
rmSync(root, { recursive: true });

/** Acts as the SDK does when its model calls `write_file`. */
async function playClaude({ mcpServers, canUseTool }: ClaudeAgent): Promise<unknown> {
  const input = { path: 'new.txt', content: 'new\n' };
  await canUseTool('mcp__toolexec__write_file', input, {
    signal: new AbortController().signal,
    toolUseID: 't1',
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'claude', version: '1.0.0' });
  await Promise.all([mcpServers.toolexec.instance.connect(ours), client.connect(theirs)]);
  return await client.callTool({
    name: 'write_file',
    arguments: input,
    _meta: { 'claudecode/toolUseId': 't1' },
  });
}
