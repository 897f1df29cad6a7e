import { dirname, join } from 'node:path';

/** One lookup or change of a path. */
export interface Touch {
  readonly call: string;
  readonly path: string;
  /** `look`: names and facts; `content`: bytes or names of a directory; `change`: anything that modifies it. */
  readonly how: 'look' | 'content' | 'change';
}

const CHANGES = new Set(
  'write pwrite64 writev pwritev pwritev2 rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat truncate ftruncate fallocate chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat mknod mknodat setxattr fsetxattr copy_file_range'.split(
    ' ',
  ),
);
const CONTENT = new Set('read pread64 readv preadv preadv2 getdents getdents64 mmap sendfile'.split(' '));
/** System calls whose texts are not paths. */
const BY_DESCRIPTOR = new Set([...CONTENT, ...'write pwrite64 writev pwritev pwritev2 statfs'.split(' ')]);
/** The TypeScript runner may clean its cache at any time. */
const OF_THE_LOADER = /^\/tmp\/tsx-\d+(?:\/|$)/;
const OPENS_TO_CHANGE = /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/;

/**
 * The accesses in a trace (`strace -f -y`) between the marks, in order; and those up to the end of the plan.
 */
export function readTrace(text: string): { readonly planned: Touch[]; readonly all: Touch[] } {
  const descriptors = new Map<string, string>();
  const all: Touch[] = [];
  let planned: Touch[] | undefined;
  let inside = false;
  for (const line of wholeLines(text)) {
    const parsed = /^\d+\s+(\w+)\((.*)$/.exec(line);
    if (parsed === null) continue;
    const [, call = '', rest = ''] = parsed;
    if (rest.includes('"/toolexec-window-begins"')) inside = true;
    else if (rest.includes('"/toolexec-plan-ends"')) planned = [...all];
    else if (rest.includes('"/toolexec-window-ends"')) return { planned: planned ?? [], all };
    else if (inside) all.push(...touchesOf(call, rest, descriptors));
    const opened = /= (\d+)<(\/[^>]*)>/.exec(rest);
    if (opened?.[1] !== undefined && opened[2] !== undefined) descriptors.set(opened[1], opened[2]);
  }
  throw new Error('the trace has no end');
}

/** A call interrupted by another thread takes two lines. */
function* wholeLines(text: string): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, pid = '', beginning] = /^(\d+)\s+(.*) <unfinished \.\.\.>$/.exec(line) ?? [];
    if (beginning !== undefined) {
      begun.set(pid, beginning);
      continue;
    }
    const [, by = '', end] = /^(\d+)\s+<\.\.\. \w+ resumed>(.*)$/.exec(line) ?? [];
    yield end === undefined ? line : `${by} ${begun.get(by) ?? ''}${end}`;
  }
}

function touchesOf(call: string, rest: string, descriptors: ReadonlyMap<string, string>): Touch[] {
  if (call === 'close' || call === 'fcntl' || call === 'lseek' || call === 'ioctl') return [];
  const changes = CHANGES.has(call) || (call.startsWith('open') && OPENS_TO_CHANGE.test(rest));
  const how = changes ? 'change' : CONTENT.has(call) ? 'content' : 'look';
  return pathsOf(call, rest, descriptors)
    .filter((path) => !OF_THE_LOADER.test(path))
    .map((path) => ({ call, path, how }));
}

function pathsOf(call: string, rest: string, descriptors: ReadonlyMap<string, string>): string[] {
  if (BY_DESCRIPTOR.has(call)) {
    const path = /\d+<(\/[^>]*)>/.exec(rest.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'))?.[1];
    return path === undefined ? [] : [path];
  }
  const given = [...rest.matchAll(/(?:(?:AT_FDCWD|\d+)<(\/[^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)];
  // Only these take two paths; in other calls the second text is an answer or an argument.
  const count = /^(rename|link|symlink)/.test(call) ? 2 : 1;
  return given.slice(0, count).flatMap(([, base = '', name = '']) => {
    if (name === '') return base === '' ? [] : [base];
    const path = name.startsWith('/') ? name : base === '' ? '' : join(base, name);
    return path === '' ? [] : [throughDescriptor(path, descriptors)];
  });
}

/** `/proc/self/fd/20/in.txt` is `in.txt` in the directory that descriptor 20 has open. */
function throughDescriptor(path: string, descriptors: ReadonlyMap<string, string>): string {
  const [, number, rest = ''] = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/.exec(path) ?? [];
  const opened = number === undefined ? undefined : descriptors.get(number);
  return opened === undefined ? path : join(opened, rest);
}

/** Every directory above a path. */
export function above(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...above(parent)];
}
