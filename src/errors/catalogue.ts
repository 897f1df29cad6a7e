/**
 * Every error code of toolexec. Types, exit codes, docs/errors.md and the tests read this table. Codes are
 * append-only: a retired code keeps its row and is never reused.
 */
export const ERROR_CATALOGUE = {
  bad_args: {
    meaning: 'The arguments are not what the tool accepts. Nothing ran.',
    remedy: 'Mend the arguments as the message says (it names the path, what was expected and what came).',
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
    meaning: 'Two calls carry one id. The first one counts, the others do not run.',
    remedy: 'Give every call an id of its own.',
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
    remedy: 'Take it off the denylist, if its calls shall be allowed.',
  },
  policy_denied: {
    meaning: 'A rule, the policy mode or a review denied the call.',
    remedy: 'Change the rule that the message names, or do without the call.',
  },
  sandbox_violation: {
    meaning: 'The call reaches for something outside its roots, its deny patterns or its declared effects.',
    remedy: 'Use a path inside a root, or declare the effect.',
  },
  security_violation: {
    meaning: 'The command is destructive and is blocked in every mode.',
    remedy: 'Do what you need in another way; no approval lifts this.',
  },
  approval_unavailable: {
    meaning: 'The call needs approval, and there is no approver to ask. Nothing ran.',
    remedy: 'Give an approver, or allow the call by a rule.',
  },
  user_denied: {
    meaning: 'The person asked has refused the call. Nothing ran.',
    remedy: 'Ask the person what they would accept.',
  },
  timeout: {
    meaning: 'The call took longer than it may and was stopped. It may have had effects.',
    remedy: 'Give it more time, or less to do.',
  },
  cancelled: {
    meaning: 'The call was cancelled, before or while it ran (`details.executed` says which).',
    remedy: 'Send the call again if it is still wanted.',
  },
  execution_failed: {
    meaning: 'The tool ran and reports a failure.',
    remedy: 'Read the message and the output: they are the tool’s own.',
  },
  tool_panicked: {
    meaning:
      'The tool has a programming error (a `TypeError`, for example), threw what is no `Error`, or threw outside of its call. It may have had effects.',
    remedy: 'Report it to the author of the tool; the stack is in the log.',
  },
  invalid_tool_output: {
    meaning: 'The tool ran, but returned something that is no result.',
    remedy: 'Return a string or `{ text }`, and structured output as the output schema says.',
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
    remedy: 'Read the file again and write the patch against what it holds now.',
  },
  stale_file: {
    meaning: 'The file was not read, or changed since it was read. No file was changed.',
    remedy: 'Read the file again, then repeat the change.',
  },
  max_iterations: {
    meaning: 'The model has asked for tools more often than one user turn allows.',
    remedy: 'Answer without tools, or raise `limits.maxToolIterationsPerUserTurn`.',
  },
  circuit_open: {
    meaning: 'The external tool failed too often and is left alone for a while.',
    remedy: 'Wait, or mend the tool.',
  },
  outcome_unknown: {
    meaning: 'The call was started, and how far it came is not known. It is not run again by itself.',
    remedy: 'Look at what the call would have changed before repeating it.',
  },
  journal_unavailable: {
    meaning: 'The journal cannot record. Nothing runs that could not be accounted for.',
    remedy: 'Make the journal’s file writable, free disk space, or choose another place.',
  },
  config_invalid: {
    meaning: 'An option or a configuration value is not valid.',
    remedy: 'Correct the value that the message names.',
  },
  already_decided: {
    meaning: 'The batch does not wait any more: it was approved, resumed or discarded before.',
    remedy: 'Nothing is left to decide; `toolexec journal show ID` says what came of it.',
  },
  unknown_batch: {
    meaning: 'No batch has this id, or its beginning is shared by several.',
    remedy:
      'Give the id that `executor.waiting()` or a list shows, or at least 8 characters that only one batch begins with.',
  },
  conflict: {
    meaning:
      'Others changed the same things while a command, or a preview, ran: its changes were not committed, none of them.',
    remedy: 'Look at what is there now, and run it again where it is still needed.',
  },
  url_blocked: {
    meaning:
      'The address is not public, or its scheme, port or user name is not accepted. Nothing was sent to it.',
    remedy: 'Use a public http or https address; a host program can name exceptions.',
  },
  fetch_failed: {
    meaning:
      'No usable answer came: the connection, the certificate, a redirect, the status or the type is at fault.',
    remedy: 'Read the message: it names what failed. Try another address, or again later.',
  },
  too_large: {
    meaning: 'What was fetched is larger than the limit. Nothing of it is kept.',
    remedy: 'Fetch a smaller page, or raise the limit that the message names.',
  },
  expired: {
    meaning: 'No worker of the fleet could start the call before its start deadline. It was not run.',
    remedy: 'Start a worker that offers its labels and its root, or allow a longer start deadline.',
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
