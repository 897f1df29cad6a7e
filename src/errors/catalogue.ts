/**
 * Every error code of toolexec. Types, exit codes, docs/errors.md and the tests read this table. Codes are
 * append-only: a retired code keeps its row and is never reused.
 */
export const ERROR_CATALOGUE = {
  bad_args: {
    meaning: 'The tool does not accept these arguments. Nothing ran.',
    remedy:
      'Correct the arguments as the message says (it names the path, the expected value and the actual value).',
  },
  unknown_tool: {
    meaning: 'No tool of this name is registered. Nothing ran.',
    remedy: 'Use one of the advertised names; the message suggests the nearest.',
  },
  duplicate_tool: {
    meaning: 'A tool with this name or alias is registered already; the first one stays.',
    remedy: 'Register the tool under another name.',
  },
  duplicate_tool_call_id: {
    meaning: 'Several calls have the same id. The first one counts, and the others do not run.',
    remedy: 'Give every call a different id.',
  },
  limit_exceeded: {
    meaning: 'A limit on calls, arguments or sizes is exceeded. Nothing ran.',
    remedy: 'Send less, or raise the limit that the message names.',
  },
  tools_disabled: {
    meaning: 'The executor does not run tools: its mode is `disabled` or `parse_only`.',
    remedy: 'Set the mode to `enabled`, or answer the call by hand.',
  },
  policy_disabled: {
    meaning: 'The policy has switched tool execution off.',
    remedy: 'Set `enabled` to true in the policy.',
  },
  denylisted: {
    meaning: 'The tool is on the denylist.',
    remedy: 'Take the tool off the denylist if its calls should be allowed.',
  },
  policy_denied: {
    meaning: 'A rule, the policy mode or a review denied the call.',
    remedy: 'Change the rule that the message names, or leave the call out.',
  },
  sandbox_violation: {
    meaning: 'The call would leave its roots, touch a denied path, or exceed its declared effects.',
    remedy: 'Use a path inside a root, or declare the effect.',
  },
  security_violation: {
    meaning: 'The command is destructive and is blocked in every mode.',
    remedy: 'Do what you need in another way; no approval lifts this.',
  },
  approval_unavailable: {
    meaning: 'The call needs approval, and there is no approver to ask. Nothing ran.',
    remedy: 'Provide an approver, or allow the call by a rule.',
  },
  user_denied: {
    meaning: 'The person was asked and refused the call. Nothing ran.',
    remedy: 'Ask the person what they would accept.',
  },
  timeout: {
    meaning: 'The call exceeded its time limit and was stopped. It may have had effects.',
    remedy: 'Give the call more time, or less work.',
  },
  cancelled: {
    meaning: 'The call was cancelled, before or while it ran (`details.executed` says which).',
    remedy: 'Send the call again if it is still wanted.',
  },
  execution_failed: {
    meaning: 'The tool ran and reports a failure.',
    remedy: 'Read the message and the output, which come from the tool.',
  },
  tool_panicked: {
    meaning:
      'The tool has a programming error (a `TypeError`, for example), threw a value that is not an `Error`, or threw outside its call. It may have had effects.',
    remedy: 'Report it to the author of the tool; the stack is in the log.',
  },
  invalid_tool_output: {
    meaning: 'The tool ran, but its return value is not a valid result.',
    remedy: 'Return a string or `{ text }`, and structured output that matches the output schema.',
  },
  spawn_failed: {
    meaning: 'A process could not be started.',
    remedy: 'Check that the program exists and may be executed.',
  },
  schema_fetch_failed: {
    meaning: 'An external tool did not give a usable schema.',
    remedy: 'Run the tool with `--schema` by hand and look at its answer.',
  },
  patch_failed: {
    meaning: 'The patch could not be parsed or applied. No file was changed.',
    remedy: 'Read the file again and write the patch for its current content.',
  },
  stale_file: {
    meaning: 'The file was not read, or changed since it was read. No file was changed.',
    remedy: 'Read the file again, then repeat the change.',
  },
  max_iterations: {
    meaning: 'The model has requested more rounds of tool calls than one user turn allows.',
    remedy: 'Answer without tools, or raise `limits.maxToolIterationsPerUserTurn`.',
  },
  circuit_open: {
    meaning: 'The external tool failed too often and is not called for a while.',
    remedy: 'Wait, or fix the tool.',
  },
  outcome_unknown: {
    meaning: 'The call was started, and its outcome is unknown. It does not run again automatically.',
    remedy: 'Check whether the call took effect before you repeat it.',
  },
  journal_unavailable: {
    meaning: 'The journal cannot record, and no call runs without a record.',
    remedy: 'Make the journal’s file writable, free disk space, or choose another place.',
  },
  config_invalid: {
    meaning: 'An option or a configuration value is not valid.',
    remedy: 'Correct the value that the message names.',
  },
  already_decided: {
    meaning: 'The batch no longer waits: it was approved, resumed or discarded before.',
    remedy: 'There is nothing left to decide; `toolexec journal show ID` shows the outcome.',
  },
  unknown_batch: {
    meaning: 'No batch has this id, or several batches begin with it.',
    remedy:
      'Use the id from `executor.waiting()` or a list, or a prefix of at least 8 characters that only one batch has.',
  },
  conflict: {
    meaning:
      'Other programs changed the same paths while a command or a preview ran, so none of its changes were committed.',
    remedy: 'Look at the current files, and run the call again if it is still needed.',
  },
  url_blocked: {
    meaning:
      'The address is not public, or its scheme, port or user name is not accepted. Nothing was sent to it.',
    remedy: 'Use a public http or https address; a host program can name exceptions.',
  },
  fetch_failed: {
    meaning:
      'No usable answer came: the connection, the certificate, a redirect, the status or the type is at fault.',
    remedy: 'Read the message, which names the failure. Try another address, or try again later.',
  },
  too_large: {
    meaning: 'The fetched content is larger than the limit. None of it is kept.',
    remedy: 'Fetch a smaller page, or raise the limit that the message names.',
  },
  expired: {
    meaning: 'No worker of the fleet could start the call before its start deadline. It was not run.',
    remedy: "Start a worker that offers the call's labels and root, or allow a longer start deadline.",
  },
  quota_exceeded: {
    meaning: 'The tenant has as many open calls as its quota allows. Nothing was accepted.',
    remedy: 'Send the calls again after `details.retry_after_ms`, or raise the quota.',
  },
} as const satisfies Record<string, { meaning: string; remedy: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Exit codes of the command in their order of precedence: the first that applies counts. */
export const EXIT_CODES = {
  usage: { code: 2, meaning: 'wrong usage, input or configuration' },
  interrupted: { code: 130, meaning: 'interrupted' },
  unsettled: { code: 4, meaning: 'a batch of this conversation waits for you' },
  approvalNeeded: { code: 3, meaning: 'approval needed, and no person to ask' },
  failed: { code: 1, meaning: 'at least one call failed' },
  ok: { code: 0, meaning: 'every call succeeded, or there was none' },
} as const;

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CATALOGUE, value);
}
