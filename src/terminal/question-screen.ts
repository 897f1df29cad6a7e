/** Where a question is asked. */
export interface QuestionScreen {
  /** As they are now: the person may change them while the question stands. */
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** The next key; undefined when there will be none. Rejects when `signal` aborts. */
  readKey(signal: AbortSignal): Promise<string | undefined>;
  /** A line, typed with echo. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
  /** Calls `handle` when columns or rows have changed. The returned function stops that. */
  onResize(handle: () => void): () => void;
}

/**
 * The next key, or `resized` where the window has had another size before one came: lines that were drawn for the old one
 * may be broken by the terminal now, and what is behind a break looks like a line of ours.
 */
export async function readKeyOrResize(
  screen: QuestionScreen,
  signal: AbortSignal,
): Promise<{ readonly key: string | undefined } | 'resized'> {
  const resized = new AbortController();
  const forget = screen.onResize(() => resized.abort());
  try {
    return { key: await screen.readKey(AbortSignal.any([signal, resized.signal])) };
  } catch (error) {
    if (signal.aborted || !resized.signal.aborted) throw error;
    return 'resized';
  } finally {
    forget();
  }
}
