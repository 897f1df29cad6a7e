/** Where a question is asked. */
export interface QuestionScreen {
  /** As they are now: the person may change them while the question stands. */
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /**
   * Draws a prompt, and gives the key that is pressed then: nothing that was typed before the prompt was drawn answers it.
   * What came at once, as a paste does, is given as one text of several keys, which no prompt expects; Ctrl-C is found in it.
   * Undefined when there will be none. Rejects when `signal` aborts.
   */
  askKey(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** The same for a line, typed with echo. Where several lines came at once, the ends of lines are in it. */
  askLine(prompt: string, signal: AbortSignal): Promise<string | undefined>;
  /** Calls `handle` when columns or rows have changed. The returned function stops that. */
  onResize(handle: () => void): () => void;
}
