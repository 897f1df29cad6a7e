// The Claude Agent SDK with the executor's tools: a call that changes something asks the approver, and runs once.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApprovalRequest, createExecutor } from 'toolexec';
import { claudeAgent } from 'toolexec/claude-agent';
import { query } from './fake-model/claude-query.js';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
const approver = ([request]: readonly ApprovalRequest[]) => {
  assert.equal(request?.summary, 'Create new.txt (4 bytes)');
  return { kind: 'approve_all' } as const;
};
await using executor = createExecutor({ root, approver });
const chatId = 'thread-7';
// In your program, `query` comes from '@anthropic-ai/claude-agent-sdk'.
// #region options
const options = { ...claudeAgent(executor, { conversation: chatId }) };
const answer = await query({ prompt: 'Write new.txt.', options });
// #endregion options
assert.match(JSON.stringify(answer), /Successfully wrote 4 bytes/);
assert.equal(readFileSync(join(root, 'new.txt'), 'utf8'), 'new\n');
rmSync(root, { recursive: true });
