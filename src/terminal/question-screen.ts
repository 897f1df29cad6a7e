/** A screen for questions. */
export interface QuestionScreen {
  /** The current width: the person may resize the window during the question. */
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /**
   * Draws a prompt and returns the key that is pressed after that: earlier input never answers it. Input that
   * arrives at once, such as a paste, is returned as one text of several keys, which no prompt expects;
   * Ctrl-C is found in it. Undefined if there will be no key. Rejects when `signal` aborts.
   */
  askKey(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** The same for a line with echo. If several lines arrive at once, the text contains the line ends. */
  askLine(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Calls `handle` after a resize. The returned function stops that. */
  onResize(handle: () => void): () => void;
}
