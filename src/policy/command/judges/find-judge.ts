import type { Judge, Judges } from '../shell.js';
import { UNKNOWN } from '../stream.js';
import { judgeAwk } from './awk.js';
import { BUILTIN_JUDGES } from './builtins.js';
import { CONTAINER_JUDGES } from './containers.js';
import { COPY_JUDGES } from './copies.js';
import { DISK_JUDGES, isFormatter, judgeFormat } from './disks.js';
import { judgeFd } from './fd.js';
import { judgeFind } from './find.js';
import { judgeGit } from './git.js';
import { NETWORK_JUDGES } from './network.js';
import { isInterpreter, judgeInterpreter, OPAQUE_JUDGES } from './opaque-code.js';
import { judgeLoader, OTHER_JUDGES } from './other-programs.js';
import { OWNERSHIP_JUDGES } from './ownership.js';
import { PAGER_JUDGES } from './pagers.js';
import { POWER_JUDGES } from './power.js';
import { REMOVAL_JUDGES } from './removal.js';
import { judgeSed } from './sed.js';
import { SHELL_JUDGES } from './shells.js';
import { TEXT_JUDGES } from './text-tools.js';
import { WHEREABOUTS_JUDGES } from './whereabouts.js';
import { SU_JUDGES, WRAPPER_JUDGES } from './wrappers.js';
import { XARGS_JUDGES } from './xargs.js';

const ALL: Judges = {
  ...TEXT_JUDGES,
  ...OTHER_JUDGES,
  ...BUILTIN_JUDGES,
  ...COPY_JUDGES,
  ...NETWORK_JUDGES,
  ...OPAQUE_JUDGES,
  ...WRAPPER_JUDGES,
  ...SU_JUDGES,
  ...SHELL_JUDGES,
  ...XARGS_JUDGES,
  ...OWNERSHIP_JUDGES,
  ...POWER_JUDGES,
  ...DISK_JUDGES,
  ...REMOVAL_JUDGES,
  ...WHEREABOUTS_JUDGES,
  ...CONTAINER_JUDGES,
  ...PAGER_JUDGES,
  find: judgeFind,
  gfind: judgeFind,
  fd: judgeFd,
  fdfind: judgeFd,
  git: judgeGit,
  sed: judgeSed,
  gsed: judgeSed,
  awk: judgeAwk,
  gawk: judgeAwk,
  mawk: judgeAwk,
  nawk: judgeAwk,
};

const BY_NAME = new Map<string, Judge>(Object.entries(ALL));

/** Who judges a command; one that nobody knows is none of our business (F027). */
export function findJudge(name: string): Judge {
  const known = BY_NAME.get(name);
  if (known !== undefined) return known;
  if (isFormatter(name)) return judgeFormat;
  if (isInterpreter(name)) return judgeInterpreter;
  return /^(?:ld-linux|ld-musl|ld\.so|ld64)/.test(name) ? judgeLoader : judgeUnknown;
}

export function isKnown(name: string): boolean {
  return findJudge(name) !== judgeUnknown;
}

const judgeUnknown: Judge = () => UNKNOWN;

/** What a pattern in place of a command (`/b?n/r[m]`) is tried on, the worst first. */
export const DANGEROUS_NAMES: readonly string[] = [
  ...[
    'rm',
    'dd',
    'mkfs',
    'mkfs.ext4',
    'shred',
    'wipefs',
    'find',
    'chmod',
    'chown',
    'mv',
    'cp',
    'tee',
    'bash',
    'sh',
  ],
  ...['dash', 'env', 'sudo', 'xargs', 'reboot', 'shutdown', 'halt', 'poweroff', 'kill', 'nc', 'curl', 'wget'],
  ...['python3', 'perl', 'busybox', 'truncate', 'ln', 'mount', 'umount', 'cat'],
];
