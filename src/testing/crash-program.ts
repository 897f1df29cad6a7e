import { createExecutor } from '../executor/create-executor.js';
import { openJournal } from '../journal/open-journal.js';
import { systemClock } from '../platform/clock/clock.js';
import { appendLine, endAtOnce, readOrder, sayLine } from '../platform/process/trial-process.js';
import { loadTrialModule } from './crash-trial.js';
import type { RoundNews, RoundOrder } from './watched-journal.js';
import { WatchedJournal } from './watched-journal.js';

// The process under test. It runs one batch and kills itself at the given step, unless it is killed before.
const order = readOrder() as RoundOrder;
const { tools } = await loadTrialModule(order.tools);
const steps: string[] = [];
const journal = new WatchedJournal(
  openJournal(order.journal),
  {
    before(step) {
      steps.push(step);
      dieAt('before');
    },
    after(acknowledged) {
      appendLine(order.log, JSON.stringify(acknowledged));
      dieAt('after');
    },
  },
  order.unfenced,
);
const executor = createExecutor({
  tools,
  root: order.root,
  journal,
  policy: null,
  approver: null,
  limits: { maxToolCallsPerBatch: order.calls.length },
});
say({ kind: 'begins' });
const begun = systemClock.monotonic();
const { conversation, parallel } = order;
await executor.run(order.calls, { conversation, parallel });
const durationMs = systemClock.monotonic() - begun;
await executor.close();
await journal.close();
say({ kind: 'ended', steps, durationMs });

function dieAt(when: 'before' | 'after'): void {
  if (order.die?.step === steps.length && order.die.when === when) endAtOnce();
}

function say(news: RoundNews): void {
  sayLine(JSON.stringify(news));
}
