export { truncate } from './output/clean-output.js';
export type { SanitizeMode } from './output/create-neutralizer.js';
export { type RedactOptions, redact } from './output/redact.js';
export { createSanitizer, type Sanitizer, sanitize } from './output/sanitize.js';
