import { arch, platform, release } from 'node:os';

/** The Node that runs this, without the `v`. */
export const nodeVersion = (): string => process.versions.node;

/** Such as `linux 6.18.5 x64`. */
export const systemName = (): string => `${platform()} ${release()} ${arch()}`;

/** Undefined where users have no numbers. */
export const userId = (): number | undefined => process.getuid?.();
