import { type Field, type Piece, textOf, textValue } from './field.js';

/** Where a path leads, from its text alone: links are not followed. */
export interface Place {
  /**
   * `root`: absolute. `here`: relative to where the command starts. `unknown`: it begins with an unknown
   * value.
   */
  readonly origin: 'root' | 'here' | 'unknown';
  /** How many directories above its origin it starts; only for `here`. */
  readonly ups: number;
  readonly segments: readonly Segment[];
}

export type Segment = readonly Piece[];

/** Stands in the value of `$PWD` for the directory where the command starts, which is not known. */
export const HERE = '/home/~/-here-';
const HERE_PARTS = HERE.split('/');

/** Resolves `.`, `..`, double slashes, the directory and `/proc/self/root`. */
export function toPlace({ pieces }: Field, directory: string | undefined): Place {
  const parts = splitSegments(pieces);
  const [first = []] = parts;
  if (parts.length > 1 && first.length === 0) {
    const isHere = HERE_PARTS.every((name, at) => textOf(parts[at] ?? []) === name);
    return isHere ? walk('here', parts.slice(HERE_PARTS.length)) : walk('root', parts);
  }
  if (directory === undefined || first[0]?.kind === 'unknown') return walk('unknown', parts);
  const from = splitSegments([textValue(directory)]);
  return walk(directory.startsWith('/') ? 'root' : 'here', [...from, ...parts]);
}

function splitSegments(pieces: readonly Piece[]): Segment[] {
  const segments: Piece[][] = [[]];
  for (const piece of pieces) {
    if (piece.kind !== 'text') {
      segments.at(-1)?.push(piece);
      continue;
    }
    piece.text.split('/').forEach((text, index) => {
      if (index > 0) segments.push([]);
      if (text !== '') segments.at(-1)?.push({ ...piece, text });
    });
  }
  return segments;
}

function walk(origin: Place['origin'], parts: readonly Segment[]): Place {
  const segments: Segment[] = [];
  let ups = 0;
  for (const part of parts) {
    if (part.length === 0) continue;
    const text = textOf(part);
    if (text === '.') continue;
    if (text !== '..') segments.push(part);
    else if (segments.length > 0) segments.pop();
    else if (origin !== 'root') ups++;
  }
  const [proc, process = '', root] = segments.slice(0, 3).map(textOf);
  const isRoot = origin === 'root' && proc === 'proc' && root === 'root';
  if (isRoot && /^(?:self|thread-self|\d+|\$\$)$/.test(process)) segments.splice(0, 3);
  return { origin, ups, segments };
}

/** The path as text, unknown parts as `*`; relative paths start where the command starts. */
export function showPlace({ origin, ups, segments }: Place): string {
  const names = segments.map((segment) =>
    segment.map((piece) => (piece.kind === 'unknown' ? '*' : piece.text)).join(''),
  );
  if (origin === 'root') return `/${names.join('/')}`;
  return [...Array<string>(ups).fill('..'), ...names].join('/') || '.';
}

/** The path of a field, as text. */
export function pathText(field: Field, directory: string | undefined): string {
  return showPlace(toPlace(field, directory));
}

/** The path for an effect, with `~` for the home directory; undefined if it is not known well enough. */
export function effectPath(field: Field, directory: string | undefined): string | undefined {
  const place = toPlace(field, directory);
  if (place.origin === 'unknown') return undefined;
  const text = showPlace(place);
  return text === '/home/~' || text.startsWith('/home/~/') ? `~${text.slice('/home/~'.length)}` : text;
}

/** A pattern for the files that a word with wildcards matches; undefined if their directory is not known. */
export function filePattern(field: Field, directory: string | undefined): string | undefined {
  const { origin, ups, segments } = toPlace(field, directory);
  if (origin === 'unknown') return undefined;
  const names = segments.map((segment) =>
    segment
      .map((piece) => {
        if (piece.kind === 'unknown') return '*';
        return piece.kind === 'glob' ? piece.text : piece.text.replaceAll(/[\\*?[\]]/g, '\\$&');
      })
      .join(''),
  );
  return (origin === 'root' ? '/' : '../'.repeat(ups)) + names.join('/');
}

/**
 * Whether the pieces could form `text`. In doubt, yes: a character class matches any character, and many other
 * constructs match any text.
 */
export function couldMatch(pieces: readonly Piece[], text: string): boolean {
  const sources = pieces.map((piece) => {
    if (piece.kind === 'text') return piece.text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    return piece.kind === 'glob' && /^(?:\?|\[.*)$/s.test(piece.text) ? '[^]' : '[^]*';
  });
  // Comparing more of them could take long.
  if (sources.filter((source) => source === '[^]*').length > MAX_STARS) return true;
  return new RegExp(`^${sources.join('')}$`).test(text);
}

const MAX_STARS = 3;

/** Splits a text that is read as a pattern (an unquoted expansion) into pieces. */
export function toGlobPieces(text: string, assumed: boolean): Piece[] {
  return text
    .split(/([*?]|\[[^\]/]+\])/)
    .filter((part) => part !== '')
    .map((part) =>
      /^(?:[*?]|\[.+\])$/s.test(part) ? { kind: 'glob', text: part } : textValue(part, assumed),
    );
}

/** `vital`: the machine or the person cannot do without it. `unclear`: it may be such a path. */
export type Danger = 'vital' | 'unclear' | 'ordinary';

/** The danger of removing, moving or re-owning a path with everything below it. */
export function dangerOfTree(field: Field, directory: string | undefined): Danger {
  if (field.isComputed) return 'unclear';
  const { origin, ups, segments: path } = toPlace(field, directory);
  // Everything in a directory counts as much as the directory.
  const top =
    path.length > MAX_PARTS ? path : path.slice(0, path.findLastIndex((one) => !coversAll(one)) + 1);
  if (origin === 'unknown') return ups > 0 || isVital(top) ? 'unclear' : 'ordinary';
  if (origin === 'root') {
    // An unknown part may also be something else.
    if (isVital(top)) return isKnown(path.slice(0, 2).flat()) ? 'vital' : 'unclear';
  } else if (ups > 0 && (top.length === 0 || (ups > 1 && top.length === 1 && isVital(top))))
    return ups >= MANY_UPS ? 'vital' : 'unclear';
  return 'ordinary';
}

const MAX_PARTS = 3;
const MANY_UPS = 3;

/** A path from the root that the machine cannot do without. */
function isVital([first, second, third]: readonly Segment[]): boolean {
  if (first === undefined) return true;
  const top = matchAny(first, SYSTEM_DIRECTORIES);
  if (second === undefined || top === undefined) return top !== undefined;
  const isBelow = SYSTEM_SUBDIRECTORIES.some(
    ([parent = '', ...names]) => couldMatch(first, parent) && matchAny(second, names) !== undefined,
  );
  return third === undefined && (top === 'home' || top === 'Users' || isBelow);
}

function isKnown(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => piece.kind !== 'unknown');
}

function matchAny(segment: Segment, names: readonly string[]): string | undefined {
  const text = textOf(segment);
  if (text === undefined) return names.find((name) => couldMatch(segment, name));
  return names.includes(text) ? text : undefined;
}

/** Matches everything in a directory: `*`, `.*`, `[a-z]*`, or an unknown value. */
function coversAll(segment: Segment): boolean {
  const isStar = (piece: Piece): boolean =>
    piece.kind === 'unknown' || (piece.kind === 'glob' && !/^(?:\?|\[.*)$/s.test(piece.text));
  return segment.some(isStar) && segment.every((piece) => piece.kind !== 'text' || /^\.*$/.test(piece.text));
}

/** The danger of writing to a path, in words. */
export interface FileDanger {
  readonly kind: Danger;
  readonly what: string;
}

const ORDINARY: FileDanger = { kind: 'ordinary', what: 'a file' };
const UNCLEAR: FileDanger = { kind: 'unclear', what: 'a file' };
const DISK: FileDanger = { kind: 'vital', what: 'a disk' };
const SYSTEM_FILE: FileDanger = { kind: 'vital', what: 'a file the system depends on' };
const STARTUP_FILE: FileDanger = { kind: 'vital', what: 'a file that is run or read at the next login' };

/** The danger of overwriting one file. */
export function dangerOfFile(field: Field, directory: string | undefined): FileDanger {
  if (field.isComputed) return UNCLEAR;
  const place = toPlace(field, directory);
  const { segments, origin, ups } = place;
  const [first, ...below] = segments.map(textOf);
  if (origin === 'unknown') {
    const text = segments.map((one) => textOf(one) ?? '*').join('/');
    return mayBeVital(text) || /(?:^|\/)(?:dev|etc)(?:\/|$)/.test(text) ? UNCLEAR : ORDINARY;
  }
  // `../../../etc/passwd`: with enough `..` it can only be the root.
  if (origin === 'here' && (ups === 0 || !SYSTEM_DIRECTORIES.includes(first ?? ''))) return ORDINARY;
  if (first === 'dev') return dangerOfDevice(segments.slice(1));
  if (first === undefined || below.includes(undefined)) return dangerOfPattern(segments);
  const text = showPlace({ ...place, origin: 'root' });
  if (CRITICAL_FILES.some((pattern) => pattern.test(text))) return SYSTEM_FILE;
  const home = /^\/(?:root|(?:home|Users)\/[^/]*)\/(.*)$/.exec(text)?.[1];
  if (home !== undefined && STARTUP_FILES.some((pattern) => pattern.test(home))) return STARTUP_FILE;
  return /^\/(?:etc|usr\/(?:s?bin|lib)|s?bin|lib(?:64)?)\//.test(text) ? UNCLEAR : ORDINARY;
}

function dangerOfPattern(segments: readonly Segment[]): FileDanger {
  const pieces: Piece[] = segments.flatMap((segment) => [textValue('/'), ...segment]);
  const isDevice = DEVICE_SAMPLES.some((name) => couldMatch(pieces, `/dev/${name}`));
  if (!isDevice && !FILE_SAMPLES.some((path) => couldMatch(pieces, path))) return ORDINARY;
  if (!isKnown(pieces)) return UNCLEAR;
  return isDevice ? DISK : SYSTEM_FILE;
}

function dangerOfDevice([first = [], second]: readonly Segment[]): FileDanger {
  const name = textOf(first);
  if (name === undefined)
    return isKnown(first) && DEVICE_SAMPLES.some((sample) => couldMatch(first, sample)) ? DISK : UNCLEAR;
  const isDisk = DEVICE_NAME.test(name) || (second !== undefined && DEVICE_FOLDERS.has(name));
  if (isDisk) return /mem|port/.test(name) ? { kind: 'vital', what: 'memory' } : DISK;
  return HARMLESS_DEVICES.has(name) ? ORDINARY : UNCLEAR;
}

const names = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));

/** Directories whose loss breaks the machine. `/tmp` is not one of them. */
const SYSTEM_DIRECTORIES = names(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt nix opt proc root run sbin snap srv sys usr var',
  'Applications Library System Users Volumes cores private',
);

/** Directories below a system directory (the first of each line) whose loss is as bad. */
const SYSTEM_SUBDIRECTORIES = [
  names('usr bin include lib lib32 lib64 libexec local sbin share src'),
  names('var lib log spool mail www db backups'),
  names('lib modules systemd x86_64-linux-gnu'),
  names('private etc var tmp'),
];

/** Names of disks and memory, against which patterns are matched. */
const DEVICE_SAMPLES = names(
  'sda sdb sda1 sdb1 hda hda1 vda vda1 xvda xvda1 nvme0 nvme0n1 nvme0n1p1 mmcblk0 mmcblk0p1',
  'disk0 disk1 rdisk0 md0 dm-0 mem kmem port',
);

const DEVICE_NAME =
  /^(?:(?:sd|hd|vd|xvd)[a-z]{1,3}\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+)?|r?disk\d+(?:s\d+)*|md\d+|dm-\d+|sr\d+|nbd\d+|zd\d+|bcache\d+|mtd(?:block)?\d+|mem|kmem|port|nvram|root)$/;

const DEVICE_FOLDERS: ReadonlySet<string> = new Set(names('disk mapper md block vg zvol'));

/** Devices in `/dev` that may be written. */
const HARMLESS_DEVICES: ReadonlySet<string> = new Set(
  names('null zero full tty stdin stdout stderr random urandom ptmx fd shm pts mqueue console tcp udp'),
);

/** Files that determine access rights on the machine, or the programs that it runs automatically. */
const CRITICAL_FILES: readonly RegExp[] = [
  /^\/etc\/(?:passwd|shadow|group|gshadow|sudoers|doas\.conf|fstab|crontab|anacrontab|ld\.so\.(?:preload|conf|cache))-?$/,
  /^\/etc\/(?:hosts|hosts\.(?:allow|deny)|resolv\.conf|nsswitch\.conf|inittab|profile|environment|bash\.bashrc|bashrc|rc\.local|securetty|login\.defs|shells|machine-id)$/,
  /^\/etc\/(?:sudoers\.d|cron\.\w+|pam\.d|profile\.d|ld\.so\.conf\.d|init\.d|rc\d?\.d|init|systemd|udev|security|ssh|selinux|polkit-1|modprobe\.d|modules-load\.d|zsh)(?:\/.*)?$/,
  /^\/boot\/.*$/,
  /^\/var\/spool\/cron(?:\/.*)?$/,
  /^\/proc\/(?:sysrq-trigger|sys\/.*|\d+\/(?:mem|oom_score_adj))$/,
  /^\/sys\/.*$/,
  /^\/(?:usr\/)?s?bin\/(?:bash|sh|dash|sudo|su|login|init|ls|rm|cat|systemctl)$/,
  /^\/(?:usr\/)?lib\/systemd\/.*$/,
  /^\/(?:Library|System\/Library)\/Launch(?:Agents|Daemons)\/.*$/,
];

/** Files in a home directory that run at the next login, or that let another user in. */
const STARTUP_FILES: readonly RegExp[] = [
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|logout|inputrc|xinitrc|xsession|xsessionrc|xprofile|pam_environment|forward|rhosts|shosts)$/,
  /^\.ssh\/(?:authorized_keys2?|config|rc|environment)$/,
  /^\.config\/(?:fish\/(?:config\.fish|conf\.d\/.*)|autostart\/.*|systemd\/user\/.*|environment\.d\/.*)$/,
  /^\.local\/share\/systemd\/user\/.*$/,
  /^Library\/Launch(?:Agents|Daemons)\/.*$/,
];

/** A relative name in an unknown directory: it may be `/dev`, `/etc` or the home directory. */
function mayBeVital(text: string): boolean {
  const isNamed = [DEVICE_NAME, ...STARTUP_FILES].some((one) => one.test(text));
  return isNamed || CRITICAL_FILES.some((one) => one.test(`/etc/${text}`));
}

/** Names against which patterns for a file are matched. */
const FILE_SAMPLES = [
  ...names('/etc/passwd /etc/shadow /etc/sudoers /etc/fstab /etc/group'),
  ...names('.bashrc .profile .zshrc .bash_profile').flatMap((name) => [`/root/${name}`, `/home/~/${name}`]),
];

/** Files that contain keys, passwords and tokens. */
export function isSecret(path: string): boolean {
  return SECRET_FILE.test(path) && !/\.(?:example|sample|template)$/.test(path);
}

const SECRET_FILE =
  /(?:^|\/)(?:\.ssh(?:\/(?!known_hosts|.*\.pub$|config$).+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws(?:\/credentials)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.kube\/config|\.docker\/config\.json|\.gnupg(?:\/.+)?|\.env(?:\.[\w-]+)?|.+\.pem|.+\.key|master\.key|shadow|gshadow)$/;
