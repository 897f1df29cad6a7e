/** Begins the URI of every kept output. */
export const OUTPUT_SCHEME = 'toolexec-output:';

/**
 * All limits on the size of results and of kept outputs. One rule holds for all of them: a result that is
 * `truncated` because of its size has an `outputRef` for reading the whole.
 */
export const OUTPUT_LIMITS = Object.freeze({
  /** Default of `output.maxBytes`: the length of a result's text, including the marker of a cut. */
  resultBytes: 102_400,
  /** Default of `output.maxContentBytes`: the data of a result's content blocks. */
  contentBytes: 20_971_520,
  /** Characters (code points) that `bash` shows of the start of an output (F004). A shorter output needs no file. */
  headCharacters: 30_000,
  /** Characters that `bash` shows of the end of a longer output. */
  tailCharacters: 2_000,
  /** Bytes of each stream of a command that stay in memory. */
  streamBytes: 1_048_576,
  /** Copied from each stream into the metadata of a result (F011). */
  metadataBytes: 4_096,
  /** More than all facts about a background shell need; they precede its output. */
  shellFactsBytes: 2_048,
  /** If less is left for the output of a background shell, the executor cuts it. */
  fewestShellBytes: 4_096,
  /** For the message of a panic: the rest is of no use to a model (D058). */
  panicBytes: 2_000,
  /** For a reason from a person, a policy or a hook. */
  reasonBytes: 16_384,
  /** For one output that is kept for `outputRef`. */
  storedBytes: 268_435_456,
  /** For all kept outputs together. The oldest are dropped first. */
  allStoredBytes: 1_073_741_824,
});
