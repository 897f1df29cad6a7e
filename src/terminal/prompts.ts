import { ownWords } from './own-words.js';
import type { QuestionScreen } from './question-screen.js';

/** Where prompts are drawn. */
export interface PromptPlace {
  readonly screen: QuestionScreen;
  readonly signal: AbortSignal;
}

/** The person has answered nothing: `interrupt` is Ctrl-C, `ended` the end of the terminal, or Ctrl-D. */
export type NoAnswer = 'interrupt' | 'ended';

export const CTRL_C = '\u0003';
export const CTRL_D = '\u0004';
export const ESCAPE = '\u001b';

/** Keys that leave a prompt without an answer to it. */
export const isBack = (key: string): boolean => key === ESCAPE || key === '\r' || key === '\n';

/**
 * Asks for a key until it is one that the prompt expects: any other is refused below it, and the same prompt stands again.
 * @param expected in words, as in `y or n`
 * @param read what a key means; undefined: it is not expected
 */
export async function askKeyFor<T>(
  place: PromptPlace,
  prompt: string,
  expected: string,
  read: (key: string) => T | undefined,
): Promise<T | NoAnswer> {
  const { screen, signal } = place;
  // What is said of a key comes with the prompt that it may be answered at.
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

/** The same for a line. Several lines that came at once are none. */
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
    const why = isOne ? 'That is no answer here' : 'Several lines came at once, and none of them counts';
    said = `${ownWords(`${why}: ${expected}.`, screen.columns)}\n`;
  }
}

/**
 * The next key below a prompt, or `resized` where the window has had another size before one came: lines that were drawn for
 * the old one may be broken by the terminal now, and what is behind a break looks like a line of ours.
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

/** Says of a key that a prompt does not expect it, in lines above the prompt that stands again. */
export function refusalOf({ columns }: QuestionScreen, key: string, expected: string): string {
  const words = isPrintable(key)
    ? `"${key}" is no answer here`
    : ONE_KEY.test(key)
      ? 'That key is no answer here'
      : 'Several keys came at once, and none of them counts';
  return `${ownWords(`${words}: ${expected}.`, columns)}\n`;
}

const ONE_KEY = /^(?:\u001b\[[0-?]*[ -/]*[@-~]|\u001bO[@-~]|[\s\S])$/u;

export function isPrintable(key: string | undefined): key is string {
  return key !== undefined && /^[!-~]$/.test(key);
}
