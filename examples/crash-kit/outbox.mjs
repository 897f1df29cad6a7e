// A tool whose effect is not a file of the sandbox, and what the crash kit needs to know of it.
// #region tool
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from 'toolexec';

/** Stands for a mail service that can list the mails it has sent, one per line. */
process.env.OUTBOX ??= join(tmpdir(), `outbox-${process.pid}`);
const outbox = process.env.OUTBOX;
const sent = () => readFileSync(outbox, 'utf8').split('\n');

export default defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  effects: ({ to }) => [{ kind: 'fetch', url: `mailto:${to}` }],
  execute({ to }, { callId }) {
    appendFileSync(outbox, `${callId}\n`);
    return `Sent to ${to}.`;
  },
  // After a crash: was it sent? A tool that can tell saves the person an `outcome_unknown`.
  probe: (_args, { callId }) => (sent().includes(callId) ? 'applied' : 'not_applied'),
});
// #endregion tool

// #region trial
export const calls = [
  { id: 'ada', name: 'send_mail', args: { to: 'ada@example.org' } },
  { id: 'bob', name: 'send_mail', args: { to: 'bob@example.org' } },
];

/** Before each round. */
export const prepare = () => writeFileSync(outbox, '');

/** How many times each effect has really happened. */
export function observe() {
  const count = (id) => sent().filter((line) => line === id).length;
  return Object.fromEntries(calls.map(({ id }) => [id, count(id)]));
}

/** Calls whose outcome the tool can always find out. */
export const knowable = ['ada', 'bob'];
// #endregion trial
