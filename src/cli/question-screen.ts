import { systemClock } from '../platform/clock/clock.js';
import type { Draw, Keyboard } from '../platform/runtime/open-keyboard.js';
import type { TextOutput } from '../platform/runtime/stdio.js';
import { ownWords } from '../terminal/own-words.js';
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

/** Says of keys that came too early that they do not count. */
export function drawn(out: TextOutput, prompt: string): Draw {
  return (isEarly) => out.write(isEarly ? `\n${ownWords(TOO_EARLY, out.columns)}\n${prompt}` : prompt);
}

const TOO_EARLY = 'Keys that came before this question do not count.';
