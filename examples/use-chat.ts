// The round trip of `useChat` through a stateless web handler: one request asks, the next one brings the approval.
// examples/use-chat/page.mjs is the page for it.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DefaultChatTransport, type DynamicToolUIPart, readUIMessageStream, type UIMessage } from 'ai';
import { createExecutor } from 'toolexec';
import { chatHandler } from './use-chat/handler.js';
import { writingModel } from './use-chat/writing-model.js';

const root = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
await using executor = createExecutor({ root });
const handle = chatHandler(executor, writingModel());
const transport = new DefaultChatTransport<UIMessage>({
  api: 'http://localhost/api/chat',
  fetch: (url, init) => handle(new Request(url, init)),
});

/** One request, and the message of the assistant that comes back. */
async function send(messages: UIMessage[]): Promise<UIMessage> {
  const request = {
    chatId: 'chat-1',
    trigger: 'submit-message',
    messageId: undefined,
    abortSignal: undefined,
  } as const;
  const stream = await transport.sendMessages({ ...request, messages });
  const last = messages.at(-1);
  let message: UIMessage | undefined;
  const start = last?.role === 'assistant' ? { message: structuredClone(last) } : {};
  for await (const state of readUIMessageStream({ ...start, stream })) message = state;
  assert.ok(message);
  return message;
}

const approve = (part: UIMessage['parts'][number]) =>
  part.type === 'dynamic-tool' && part.state === 'approval-requested'
    ? ({
        ...part,
        state: 'approval-responded',
        approval: { id: part.approval.id, approved: true },
      } as DynamicToolUIPart)
    : part;

const user: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Write new.txt.' }] };
const asked = await send([user]);
assert.equal(existsSync(join(root, 'new.txt')), false);
const approved = { ...asked, parts: asked.parts.map(approve) };
const forged: UIMessage[] = JSON.parse(JSON.stringify([user, approved]).replaceAll('new.txt', 'forged.txt'));
await send(forged);
assert.equal(existsSync(join(root, 'forged.txt')), false);
const done = await send([user, approved]);
assert.match(JSON.stringify(done.parts), /written/);
assert.equal(existsSync(join(root, 'new.txt')), true);
rmSync(root, { recursive: true });
