/** The limits of live output, which journals keep only for readers that watch a call. */

/** Older output is removed by the next write, in milliseconds. */
export const LIVE_MS = 600_000;
/** The number of texts that a journal of one process or file keeps. */
export const MOST_KEPT = 1_024;
/** The number of texts in one answer. */
export const MOST_TEXTS = 500;
