import { REDACTION_MARKER } from '../contract/call.js';
import { ToolError } from '../errors/tool-error.js';

/**
 * Refuses text for a file in which a secret has been replaced by our own marker: written back, the secret would be
 * lost (F024).
 * @throws ToolError `bad_args`
 */
export function assertNotRedacted(what: string, texts: Iterable<string>): void {
  for (const text of texts) {
    if (!text.includes(REDACTION_MARKER)) continue;
    throw new ToolError(
      'bad_args',
      `Cannot write ${what}: it holds ${REDACTION_MARKER}, which stands for a hidden value and is not in the file. ` +
        'Leave the lines that have it out of the change.',
    );
  }
}
