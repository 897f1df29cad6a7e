import { execFile } from 'node:child_process';
import { machineArchitecture } from '../runtime/environment.js';
import { findTrustedProgram } from './find-program.js';

/**
 * Removes the extended attributes whose names begin with `prefix` from files. A directory with a slash at the end
 * stands for itself and its entries. The paths are bytes (latin1). Node has no function for this, so perl makes the
 * system calls. Never rejects: without perl, or for a missing file, the attributes stay.
 */
export async function stripAttributes(prefix: string, paths: readonly string[]): Promise<void> {
  const numbers = NUMBERS.get(machineArchitecture());
  found ??= { perl: findTrustedProgram('perl') };
  const { perl } = found;
  if (perl === undefined || numbers === undefined || paths.length === 0) return;
  await new Promise<void>((resolve) => {
    const args = ['-e', PROGRAM, ...numbers.map(String), prefix];
    const program = execFile(perl, args, { env: {}, timeout: LIMIT_MS, killSignal: 'SIGKILL' }, () =>
      resolve(),
    );
    program.stdin?.on('error', () => {});
    program.stdin?.end(Buffer.from(`${paths.join('\0')}\0`, 'latin1'));
  });
}

const LIMIT_MS = 30_000;

let found: { readonly perl: string | undefined } | undefined;

const PROGRAM = `
my ($list, $remove, $prefix) = @ARGV;
$list += 0; $remove += 0;
$/ = "\\0";
my $size = 65536;
my $names = "\\0" x $size;
while (my $path = <STDIN>) {
  chomp $path;
  strip($path);
  next unless $path =~ m{/\\z} && opendir my $directory, $path;
  while (defined(my $name = readdir $directory)) { strip("$path$name") if $name ne '.' && $name ne '..' }
}
sub strip {
  my ($path) = @_;
  my $length = syscall($list, $path, $names, $size);
  return if $length <= 0;
  my @ours = grep { index($_, $prefix) == 0 } split /\\0/, substr($names, 0, $length);
  return unless @ours;
  my $mode = (lstat $path)[2] & 07777;
  chmod $mode | 0200, $path unless $mode & 0200;
  syscall($remove, $path, "$_") for @ours;
  chmod $mode, $path unless $mode & 0200;
}`;

/** The numbers of the system calls `llistxattr` and `lremovexattr`. */
const NUMBERS: ReadonlyMap<string, readonly [list: number, remove: number]> = new Map([
  ['x64', [195, 198]],
  ['arm64', [12, 15]],
  ['riscv64', [12, 15]],
  ['loong64', [12, 15]],
]);
