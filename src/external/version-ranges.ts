import packages from '../base/large-packages.cjs';
import type { Description } from './describe-program.js';

/** By tool name: `{ "csv-columns": "^1.2" }`. */
export type VersionRanges = Readonly<Record<string, string>>;

/** A tool outside its version range cannot be called. */
export function withinRange(name: string, description: Description, ranges: VersionRanges): Description {
  const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
  if (range === undefined) return description;
  const asked = `"${range}", which versions asks for`;
  if (description.status !== 'ready') {
    return {
      status: 'error',
      reason: `its version is not known to be within ${asked} (${description.reason})`,
    };
  }
  const { version } = description.document;
  const read = readVersion(version);
  if (read === undefined) {
    return {
      status: 'error',
      reason: `its version "${version}" is not a version that could be within ${asked}`,
    };
  }
  return packages.semver().satisfies(read, range)
    ? description
    : { status: 'error', reason: `its version "${version}" is not within ${asked}` };
}

/** `1.2.3`, also as `v1.2.3`, and with missing parts as zero. */
function readVersion(version: string): string | undefined {
  const short = /^v?(\d+)(?:\.(\d+))?$/.exec(version);
  return packages.semver().valid(short === null ? version : `${short[1]}.${short[2] ?? 0}.0`) ?? undefined;
}
