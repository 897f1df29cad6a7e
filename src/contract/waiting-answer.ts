/** How a call is answered while it waits for approval. A conversation keeps these words until they are mended. */
export const WAITING_ANSWER =
  "Not run yet: it waits for the person's approval. Go on with what does not need its result.";

/** For the developer and the person: how such a batch is decided. */
export function waitingHint(batchId: string): string {
  return `Decide with "toolexec approve ${batchId}", in a program with executor.approve().`;
}

/** Whether a text is such an answer, as it is written now or was by earlier versions, and nothing else. */
export function isWaitingAnswer(text: string): boolean {
  return text === WAITING_ANSWER || EARLIER.test(text);
}

/** Earlier versions named the batch and the command in it, and saved conversations hold it. */
const EARLIER =
  /^Not run yet: its batch waits for approval\. Decide with "toolexec approve [^"\s]+", in a program with executor\.approve\(\)\.$/;
