import { ownWords } from './own-words.js';
import type { QuestionScreen } from './question-screen.js';

/** The place of prompts. */
export interface PromptPlace {
  readonly screen: QuestionScreen;
  readonly signal: AbortSignal;
}

/** The person gave no answer: `interrupt` is Ctrl-C, `ended` the end of the terminal, or Ctrl-D. */
export type NoAnswer = 'interrupt' | 'ended';

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const ESCAPE = '\u001b';

/** Keys that leave a prompt without an answer. */
export const isBack = (key: string): boolean => key === ESCAPE || key === '\r' || key === '\n';

/**
 * Asks until a key has a meaning: any other key is refused below the prompt, which is drawn again.
 * @param expected in words, as in `y or n`
 * @param read the meaning of a key; undefined: unexpected
 */
export async function askKeyFor<T>(
  place: PromptPlace,
  prompt: string,
  expected: string,
  read: (key: string) => T | undefined,
): Promise<T | NoAnswer> {
  const { screen, signal } = place;
  // The message about a key appears with the next prompt.
  for (let said = ''; ; ) {
    const key = await screen.askKey(`${said}${prompt} `, signal);
    screen.write(isPrintable(key) ? `${key}\n` : '\n');
    if (key === undefined || key === CTRL_D) return 'ended';
    if (key === CTRL_C) return 'interrupt';
    const answer = read(key);
    if (answer !== undefined) return answer;
    said = refusalOf(screen, key, expected);
  }
}

/** The same for a line. Several lines at once count as none. */
export async function askLineFor<T>(
  { screen, signal }: PromptPlace,
  prompt: string,
  expected: string,
  read: (line: string) => T | undefined,
): Promise<T | NoAnswer> {
  for (let said = ''; ; ) {
    const line = await screen.askLine(`${said}${prompt} `, signal);
    if (line === undefined) return 'ended';
    if (line === CTRL_C) return 'interrupt';
    const isOne = !line.includes('\n');
    const answer = isOne ? read(line.trim()) : undefined;
    if (answer !== undefined) return answer;
    const why = isOne
      ? 'That is not an answer here'
      : 'Several lines arrived together, and none of them counts';
    said = `${ownWords(`${why}: ${expected}.`, screen.columns)}\n`;
  }
}

/**
 * Reads the next key below a prompt, or `resized` if the window size changed before: the terminal may have
 * wrapped lines that were drawn for the old size, and text after a break could look like a line of ours.
 */
export async function askKeyOrResize(
  screen: QuestionScreen,
  prompt: string,
  signal: AbortSignal,
): Promise<{ readonly key: string | undefined } | 'resized'> {
  const resized = new AbortController();
  const forget = screen.onResize(() => resized.abort());
  try {
    const key = await screen.askKey(prompt, AbortSignal.any([signal, resized.signal]));
    screen.write(isPrintable(key) ? `${key}\n` : '\n');
    return { key };
  } catch (error) {
    if (signal.aborted || !resized.signal.aborted) throw error;
    screen.write('\n');
    return 'resized';
  } finally {
    forget();
  }
}

/** Says that a prompt does not expect a key, in lines above the repeated prompt. */
export function refusalOf({ columns }: QuestionScreen, key: string, expected: string): string {
  const words = isPrintable(key)
    ? `"${key}" is not an answer here`
    : ONE_KEY.test(key)
      ? 'That key is not an answer here'
      : 'Several keys arrived together, and none of them counts';
  return `${ownWords(`${words}: ${expected}.`, columns)}\n`;
}

const ONE_KEY = /^(?:\u001b\[[0-?]*[ -/]*[@-~]|\u001bO[@-~]|[\s\S])$/u;

export function isPrintable(key: string | undefined): key is string {
  return key !== undefined && /^[!-~]$/.test(key);
}
