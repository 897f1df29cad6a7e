import { systemClock } from '../platform/clock/clock.js';
import type { Draw, Keyboard } from '../platform/runtime/open-keyboard.js';
import type { TextOutput } from '../platform/runtime/stdio.js';
import { ownWords } from '../terminal/own-words.js';
import type { QuestionScreen } from '../terminal/question-screen.js';

/** During a resize the window has many sizes: the last one counts. */
const STILL_MS = 100;

/** A screen for questions: writes to standard error and reads the keyboard. */
export function questionScreen(out: TextOutput, keyboard: Keyboard): QuestionScreen {
  return {
    get columns() {
      return out.columns;
    },
    get rows() {
      return out.rows;
    },
    write: (text) => out.write(text),
    askKey: (prompt, signal) => keyboard.readKey(drawn(out, prompt), signal),
    askLine: (prompt, signal) => keyboard.readLine(drawn(out, prompt), signal),
    onResize(handle) {
      let forget = (): void => {};
      const stop = out.onResize(() => {
        forget();
        forget = systemClock.after(STILL_MS, handle);
      });
      return () => {
        forget();
        stop();
      };
    },
  };
}

/** Reports keys that were pressed too early and do not count. */
export function drawn(out: TextOutput, prompt: string): Draw {
  return (isEarly) => out.write(isEarly ? `\n${ownWords(TOO_EARLY, out.columns)}\n${prompt}` : prompt);
}

const TOO_EARLY = 'Keys that came before this question do not count.';
