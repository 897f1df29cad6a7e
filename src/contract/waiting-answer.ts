const BEFORE = 'Not run yet: its batch waits for approval. Decide with "toolexec approve ';
const AFTER = '", in a program with executor.approve().';

/** How a call is answered while its batch waits for approval. A conversation keeps these words until they are mended. */
export function waitingAnswer(batchId: string): string {
  return `${BEFORE}${batchId}${AFTER}`;
}

/** Whether a text is such an answer, of whatever batch, and nothing else. */
export function isWaitingAnswer(text: string): boolean {
  const id = text.slice(BEFORE.length, -AFTER.length);
  return text === waitingAnswer(id) && /^[^"\s]+$/.test(id);
}
