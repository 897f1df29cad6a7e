import { type ErrorDetails, ToolError } from '../errors/tool-error.js';

/** The one error of a journal: what could not be done, why, and what to do about it. */
export function journalUnavailable(
  action: string,
  reason: string,
  remedy: string,
  options: { readonly details?: ErrorDetails; readonly cause?: unknown } = {},
): ToolError {
  return new ToolError('journal_unavailable', `${action}: ${reason}. ${remedy}`, options);
}

export function batchIsKnown(id: string): ToolError {
  return journalUnavailable(
    `Cannot accept batch "${id}"`,
    'a batch with this id is recorded already',
    'Give every batch an id of its own.',
  );
}

export function batchIsUnknown(action: string, id: string): ToolError {
  return journalUnavailable(
    `Cannot ${action} batch "${id}"`,
    'the journal holds no such batch',
    'Use the id of a batch that it accepted.',
  );
}

export function callIsUnknown(action: string, key: string): ToolError {
  return journalUnavailable(
    `Cannot ${action} call "${key}"`,
    'the journal holds no such call',
    'Use a key that accept answered with.',
  );
}

export function journalIsClosed(action: string): ToolError {
  return journalUnavailable(`Cannot ${action}`, 'the journal is closed', 'Open it again, or close it later.');
}
