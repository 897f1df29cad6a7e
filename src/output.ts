export type { SanitizeMode } from './output/create-neutralizer.js';
export { createSanitizer, type Sanitizer } from './output/create-sanitizer.js';
export { type RedactOptions, redact } from './output/redact.js';
export { sanitize } from './output/sanitize.js';
export { truncate } from './output/truncate.js';
