import { systemClock } from '../platform/clock/clock.js';
import type { Keyboard } from '../platform/runtime/open-keyboard.js';
import type { TextOutput } from '../platform/runtime/stdio.js';
import type { QuestionScreen } from '../terminal/question-screen.js';

/** A window that is being dragged has many sizes: the last one counts. */
const STILL_MS = 100;

/** The terminal as a question sees it: standard error to write to, the keyboard to read from. */
export function questionScreen(out: TextOutput, keyboard: Keyboard): QuestionScreen {
  return {
    get columns() {
      return out.columns;
    },
    get rows() {
      return out.rows;
    },
    write: (text) => out.write(text),
    readKey: (signal) => keyboard.readKey(signal),
    readLine: (signal) => keyboard.readLine(signal),
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
