import type { IncomingBatch } from '../contract/executor.js';
import { holdCalls } from './hold-calls.js';
import { incomingIsOver } from './run-options.js';
import { startLater } from './start-later.js';

/** A batch whose calls arrive while the engine is still being loaded: they are handed on in their order. */
export function receiveLater(id: string, incoming: Promise<IncomingBatch>): IncomingBatch {
  let isOver = false;
  const close = (): void => {
    if (isOver) throw incomingIsOver();
    isOver = true;
  };
  // Whoever asks anything of it hears why it could not be opened.
  incoming.catch(() => {});
  return {
    id,
    async add(calls, said) {
      if (isOver) throw incomingIsOver();
      const held = holdCalls(calls);
      await (await incoming).add(held, said);
    },
    start() {
      close();
      return startLater(id, async () => (await incoming).start());
    },
    async drop(reason) {
      close();
      return (await incoming).drop(reason);
    },
  };
}
