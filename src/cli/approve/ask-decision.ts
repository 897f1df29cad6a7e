import type { RecoveredBatch } from '../../contract/executor.js';
import { openKeyboard } from '../../platform/open-keyboard.js';
import type { Stdio } from '../../platform/stdio.js';
import { isAutomated } from '../show/create-display.js';

const QUESTION =
  'Go on with what is known, or take all of it as failed? [r]esume, [d]iscard, or Enter for later: ';

/** Asks the person about a batch that waits (D089). Undefined: nobody is there, or it is to be decided later. */
export async function askDecision(
  { batchId }: RecoveredBatch,
  stdio: Stdio,
  env: Readonly<Record<string, string | undefined>>,
): Promise<'resume' | 'discard' | undefined> {
  if (!stdio.stderr.isTerminal || isAutomated(env)) return undefined;
  const keyboard = openKeyboard();
  if (keyboard === undefined) return undefined;
  try {
    for (;;) {
      stdio.stderr.write(`${batchId}\n${QUESTION}`);
      const line = (await keyboard.readLine(new AbortController().signal))?.trim().toLowerCase();
      if (line === undefined || line === '') return undefined;
      if (line === 'r' || line === 'resume') return 'resume';
      if (line === 'd' || line === 'discard') return 'discard';
    }
  } finally {
    keyboard.close();
  }
}
