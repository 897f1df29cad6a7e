import type { CommandSandbox, Confinement } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { askProgram } from '../../platform/process/ask-program.js';
import { findTrustedProgram, findUntrustedProgram } from '../../platform/process/find-program.js';
import { systemName } from '../../platform/runtime/environment.js';
import { ISOLATION_FLAGS, NETWORK_FLAGS } from './bubblewrap-arguments.js';
import { hasPassed, notePassed } from './remembered-trials.js';
import type { Bubblewrap } from './sandbox-mounts.js';
import { systemMounts } from './system-mounts.js';

/** Whether commands can be sandboxed on this machine. */
export type SandboxFound =
  | { readonly stands: true; readonly file: string; readonly byDescriptor: boolean }
  | { readonly stands: false; readonly reason: string; readonly remedy: string };

/** Tests once per process: builds a sandbox and tries forbidden actions inside. Never rejects. */
export function findCommandSandbox(): Promise<SandboxFound> {
  found ??= look();
  return found;
}

let found: Promise<SandboxFound> | undefined;

/** The result, if it is known already. */
export function knownSandbox(): SandboxFound | undefined {
  return known;
}

let known: SandboxFound | undefined;

async function look(): Promise<SandboxFound> {
  known = await trySandbox();
  return known;
}

const INSTALL = 'Install bubblewrap 0.8 or newer: apt install bubblewrap, dnf install bubblewrap.';
const ALLOW =
  'Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; ' +
  'in a container: a seccomp profile that allows them), or run on a machine that does.';

async function trySandbox(): Promise<SandboxFound> {
  if (!systemName().startsWith('linux')) {
    const remedy = 'Run on Linux, or in a separate container or virtual machine.';
    return { stands: false, reason: 'bubblewrap needs Linux', remedy };
  }
  const file = findTrustedProgram('bwrap');
  if (file === undefined) return notThere();
  const args = [
    ...ISOLATION_FLAGS,
    ...NETWORK_FLAGS,
    ...systemMounts(),
    '--tmpfs',
    '/tmp',
    '--remount-ro',
    '/',
  ];
  const command = [...args, '--', '/bin/sh', '-c', PROBE];
  const trial = [file, ...command].join(' ');
  // Without `byDescriptor` the sandbox is weaker: that is never remembered.
  if (hasPassed(trial)) return { stands: true, file, byDescriptor: true };
  const answer = await askProgram(file, command, {});
  if (answer.ok) {
    const byDescriptor = await takesDescriptors(file);
    if (byDescriptor) notePassed(trial);
    return { stands: true, file, byDescriptor };
  }
  const remedy = /nknown option/.test(answer.reason) ? INSTALL : ALLOW;
  return { stands: false, reason: `${file} cannot isolate here: ${answer.reason}`, remedy };
}

function notThere(): SandboxFound {
  const untrusted = findUntrustedProgram('bwrap');
  if (untrusted === undefined)
    return { stands: false, reason: 'bubblewrap is not installed', remedy: INSTALL };
  return {
    stands: false,
    reason: `${untrusted} does not belong to root, or other users may change it`,
    remedy:
      'Install it as root. Inside a user namespace without root, such as this sandbox, no other sandbox can be built.',
  };
}

/** Without that, a path may lead elsewhere by the time it is mounted. */
async function takesDescriptors(file: string): Promise<boolean> {
  const help = await askProgram(file, ['--help'], {});
  return help.ok && /--ro-bind-fd\b/.test(help.stdout);
}

/** Tries actions that a command must not be able to do, and reports successes. */
const PROBE = `
fail() { echo "$1" >&2; exit 1; }
( : > /probe ) 2>/dev/null && fail 'the root can be written'
( : > /usr/probe ) 2>/dev/null && fail '/usr can be written'
( : >> /proc/sys/kernel/core_pattern ) 2>/dev/null && fail 'settings of the kernel can be written'
( : > /tmp/probe ) 2>/dev/null || fail '/tmp cannot be written'
for place in /home /root /run /var /etc/shadow; do [ -e $place ] && fail "$place can be seen"; done
[ $$ -le 3 ] || fail 'processes of the machine can be seen'
while read -r name value; do
  case $name in
    CapEff:|CapPrm:|CapBnd:) case $value in *[!0]*) fail 'capabilities are left' ;; esac ;;
    NoNewPrivs:) [ "$value" = 1 ] || fail 'privileges can be gained' ;;
  esac
done < /proc/self/status
while read -r name value; do
  case $name in lo:*|Inter-*|face*) ;; *) fail 'the network can be reached' ;; esac
done < /proc/self/net/dev
exit 0
`;

export interface ChosenSandbox {
  readonly sandbox: CommandSandbox;
  /** The builder of the sandbox, if there is one. */
  readonly inside?: { readonly bubblewrap: Bubblewrap; readonly confinement: Confinement };
}

/** @throws ToolError `sandbox_violation` if a sandbox is required and missing. */
export async function chooseSandbox(confinement: Confinement | undefined): Promise<ChosenSandbox> {
  if (confinement === undefined || confinement.os === 'off') return { sandbox: NO_SANDBOX };
  const found = knownSandbox() ?? (await findCommandSandbox());
  if (found.stands) {
    const { network } = confinement;
    return { sandbox: { kind: 'bubblewrap', network }, inside: { bubblewrap: found, confinement } };
  }
  if (confinement.os === 'required') throw sandboxRequired(found);
  return { sandbox: { ...NO_SANDBOX, reason: found.reason } };
}

const NO_SANDBOX: CommandSandbox = { kind: 'none', network: true };

export function sandboxRequired({
  reason,
  remedy,
}: {
  readonly reason: string;
  readonly remedy: string;
}): ToolError {
  return new ToolError(
    'sandbox_violation',
    'Cannot run commands here: they need an OS sandbox, and there is none. Do without commands.',
    {
      hint: `There is no OS sandbox: ${reason}. ${remedy}`,
      details: { reason: 'SandboxUnavailable', why: reason },
    },
  );
}
