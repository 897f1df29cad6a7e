import { createRequire } from 'node:module';

const packageJson: unknown = createRequire(import.meta.url)('../../package.json');

/** Of this package. */
export const VERSION = readVersion(packageJson);

function readVersion(value: unknown): string {
  const { version } = Object(value) as { version?: unknown };
  return typeof version === 'string' ? version : 'unknown';
}
