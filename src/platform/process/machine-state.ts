import { readFileSync, readlinkSync } from 'node:fs';
import { stampOf } from '../fs/file-stamp.js';
import { systemName } from '../runtime/environment.js';
import { findTrustedProgram } from './find-program.js';

/**
 * The facts about this machine and process that determine whether a sandbox can be built, one per line. As long as they
 * are unchanged, a trial of the sandbox has the same result. Undefined on a machine whose boots cannot be
 * distinguished.
 */
export function machineState(): string | undefined {
  const boot = lineOf('/proc/sys/kernel/random/boot_id');
  if (boot === undefined) return undefined;
  return [
    `boot ${boot}`,
    `system ${systemName()}`,
    ...NAMESPACES.map((name) => `namespace ${linkOf(`/proc/self/ns/${name}`)}`),
    ...PROCESS_FACTS.map((name) => `process ${name} ${lineOf(`/proc/self/${name}`)}`),
    ...privileges(),
    ...SETTINGS.map((name) => `setting ${name} ${lineOf(`/proc/sys/${name}`)}`),
    ...PROGRAMS.map((name) => `program ${name} ${identityOf(name)}`),
  ].join('\n');
}

const NAMESPACES = ['user', 'mnt', 'pid'];

/** The security module's profile, and the users that the namespace knows. */
const PROCESS_FACTS = ['attr/current', 'uid_map', 'gid_map'];

/** Settings that can each forbid namespaces. */
const SETTINGS = [
  ...['kernel/unprivileged_userns_clone', 'kernel/apparmor_restrict_unprivileged_userns'],
  ...['kernel/apparmor_restrict_unprivileged_unconfined', 'user/max_user_namespaces'],
  ...['user/max_mnt_namespaces', 'user/max_pid_namespaces', 'user/max_net_namespaces'],
];

/** The programs that sandboxes and their trials run. */
const PROGRAMS = ['bwrap', 'unshare', 'mount', 'mknod', 'nsenter', 'sh'];

/** Users, capabilities and system call filters of this process, which its children inherit. */
function privileges(): readonly string[] {
  const lines = (textOf('/proc/self/status') ?? '').split('\n');
  return lines.filter((line) => /^(?:[UG]id|Groups|NoNewPrivs|Seccomp|Seccomp_filters|Cap\w+):/.test(line));
}

function identityOf(name: string): string {
  const file = findTrustedProgram(name);
  return file === undefined ? 'missing' : `${file} ${stampOf(file)}`;
}

function lineOf(path: string): string | undefined {
  return textOf(path)?.trim().replaceAll('\n', ', ');
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
