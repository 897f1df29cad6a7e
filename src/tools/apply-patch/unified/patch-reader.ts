/** Lines of a patch that are read one after the other. */
export class PatchReader {
  /** Index of the line that comes next; the number of the line that was read last. */
  at = 0;

  constructor(readonly lines: readonly string[]) {}

  peek(ahead = 0): string | undefined {
    return this.lines[this.at + ahead];
  }

  next(): string | undefined {
    return this.lines[this.at++];
  }
}
