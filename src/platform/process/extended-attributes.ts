import { execFile } from 'node:child_process';
import { machineArchitecture } from '../runtime/environment.js';
import { findTrustedProgram } from './find-program.js';

/*
 * Extended attributes of files and directories. Node has no function for them, so perl makes the system calls. Paths are
 * bytes (latin1). Nothing rejects: without perl, on an unknown processor, or for a missing file, nothing happens.
 */

/**
 * Removes the attributes whose names begin with `prefix`. A directory with a slash at the end stands for itself and its
 * entries.
 */
export async function stripAttributes(prefix: string, paths: readonly string[]): Promise<void> {
  await askPerl(STRIP, prefix, paths);
}

/** One file, and another version of it. */
export type AttributePair = readonly [one: string, other: string];

/**
 * The indices of the pairs that differ in `user` attributes or access control lists, except for those with `prefix`. Of
 * directories, only attributes that the first one has are compared.
 */
export async function differingAttributes(
  prefix: string,
  pairs: readonly AttributePair[],
): Promise<readonly number[]> {
  const answer = await askPerl(DIFFER, prefix, pairs.flat());
  return answer.split('\n').filter(Boolean).map(Number);
}

/** Gives the second file of each pair the `user` attributes and access control lists of the first. */
export async function copyAttributes(prefix: string, pairs: readonly AttributePair[]): Promise<void> {
  await askPerl(COPY, prefix, pairs.flat());
}

function askPerl(program: string, prefix: string, paths: readonly string[]): Promise<string> {
  const numbers = NUMBERS.get(machineArchitecture());
  found ??= { perl: findTrustedProgram('perl') };
  const { perl } = found;
  if (perl === undefined || numbers === undefined || paths.length === 0) return Promise.resolve('');
  return new Promise((resolve) => {
    const args = ['-e', `${SHARED}${program}`, prefix, ...numbers.map(String)];
    const options = { env: {}, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES } as const;
    const child = execFile(perl, args, options, (_, answer) => resolve(answer));
    child.stdin?.on('error', () => {});
    child.stdin?.end(Buffer.from(`${paths.join('\0')}\0`, 'latin1'));
  });
}

const LIMIT_MS = 30_000;
const MOST_BYTES = 16 * 1024 * 1024;

let found: { readonly perl: string | undefined } | undefined;

/** The system calls need numbers, not texts, so arguments become numbers first. */
const SHARED = `
my $prefix = shift @ARGV;
my ($set, $get, $list, $remove) = map { $_ + 0 } @ARGV;
$/ = "\\0";
my $size = 65536;
my $buffer = "\\0" x $size;
sub next_path { my $path = <STDIN>; chomp $path if defined $path; $path }
sub names {
  my ($path) = @_;
  my $length = syscall($list, $path, $buffer, $size);
  $length > 0 ? split(/\\0/, substr($buffer, 0, $length)) : ();
}
sub attributes {
  my ($path) = @_;
  my %known;
  for my $name (names($path)) {
    next if index($name, $prefix) == 0 || $name !~ /^(?:user\\.|system\\.posix_acl_)/;
    my $length = syscall($get, $path, $name, $buffer, $size);
    $known{$name} = substr($buffer, 0, $length) if $length >= 0;
  }
  \\%known;
}
`;

const STRIP = `
while (defined(my $path = next_path())) {
  strip($path);
  next unless $path =~ m{/\\z} && opendir my $directory, $path;
  while (defined(my $name = readdir $directory)) { strip("$path$name") if $name ne '.' && $name ne '..' }
}
sub strip {
  my ($path) = @_;
  my @ours = grep { index($_, $prefix) == 0 } names($path);
  return unless @ours;
  my $mode = (lstat $path)[2] & 07777;
  chmod $mode | 0200, $path unless $mode & 0200;
  syscall($remove, $path, "$_") for @ours;
  chmod $mode, $path unless $mode & 0200;
}`;

const DIFFER = `
for (my $pair = 0; defined(my $one = next_path()); $pair++) {
  my $other = next_path();
  my ($mine, $theirs) = (attributes($one), attributes($other));
  my $differs = grep { !exists $$theirs{$_} || $$theirs{$_} ne $$mine{$_} } keys %$mine;
  $differs ||= grep { !exists $$mine{$_} } keys %$theirs unless -d $one;
  print "$pair\\n" if $differs;
}`;

const COPY = `
while (defined(my $from = next_path())) {
  my $to = next_path();
  my $all = attributes($from);
  next unless %$all;
  my $mode = (lstat $to)[2] & 07777;
  chmod $mode | 0200, $to unless $mode & 0200;
  for my $name (keys %$all) { syscall($set, $to, "$name", $$all{$name}, length $$all{$name}, 0) }
  chmod $mode, $to unless $mode & 0200;
}`;

/** The numbers of the system calls `lsetxattr`, `lgetxattr`, `llistxattr` and `lremovexattr`. */
const NUMBERS: ReadonlyMap<string, readonly [set: number, get: number, list: number, remove: number]> =
  new Map([
    ['x64', [189, 192, 195, 198]],
    ['arm64', [6, 9, 12, 15]],
    ['riscv64', [6, 9, 12, 15]],
    ['loong64', [6, 9, 12, 15]],
  ]);
