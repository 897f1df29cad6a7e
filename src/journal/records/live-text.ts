/** Live output that is older goes with the next write, in milliseconds. */
export const LIVE_MS = 600_000;
/** The number of texts that one answer has at most. */
export const MOST_TEXTS = 500;
