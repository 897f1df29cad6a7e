import { createRedactor } from './create-redactor.js';
import { createSanitizer, type Sanitizer } from './create-sanitizer.js';

/**
 * For output that is shown while it comes: neutralised, then cleared of exact values, over chunk borders too
 * (D077, decision 24). Rules need the whole text and are left to `cleanOutput`.
 */
export function createOutputPipe(values: readonly string[]): Sanitizer {
  const sanitizer = createSanitizer();
  const redactor = createRedactor(values);
  return {
    push: (chunk) => redactor.push(sanitizer.push(chunk)),
    end: () => redactor.push(sanitizer.end()) + redactor.end(),
  };
}
