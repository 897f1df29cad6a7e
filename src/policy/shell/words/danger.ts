import { type Field, type Piece, type Stream, textOf, textValue } from './field.js';
import { couldMatch, type Place, pathText, type Segment, showPlace, toPlace } from './place.js';

/** `vital`: the machine or the person cannot do without it. `unclear`: it may be such a place. */
export type Danger = 'vital' | 'unclear' | 'ordinary';

/** What removing, moving or re-owning a path with all below it would hit. */
export function dangerOfTree(field: Field, directory: string | undefined): Danger {
  const place = toPlace(field, directory);
  if (field.isNewFile) return 'ordinary';
  if (field.isComputed) return 'unclear';
  if (place.origin === 'root') return fromRoot(place.segments);
  return place.origin === 'here' ? fromHere(place) : fromUnknown(place);
}

function fromRoot(segments: readonly Segment[]): Danger {
  const [first, second, third] = segments;
  if (first === undefined) return 'vital';
  const top = matchAny(first, SYSTEM_DIRECTORIES);
  if (top === undefined) return 'ordinary';
  if (second === undefined) return unlessUnknown(segments);
  if (third !== undefined && !(segments.length === 3 && coversAll(third))) return 'ordinary';
  const known = Object.entries(SYSTEM_SUBDIRECTORIES).flatMap(([parent, names]) =>
    couldMatch(first, parent) ? names : [],
  );
  const holdsHomes = top === 'home' || top === 'Users';
  const isHit = holdsHomes || coversAll(second) || matchAny(second, known) !== undefined;
  return isHit ? unlessUnknown([first, second]) : 'ordinary';
}

/** What is not known may also be something else. */
function unlessUnknown(segments: readonly Segment[]): Danger {
  return isKnown(segments.flat()) ? 'vital' : 'unclear';
}

function isKnown(pieces: readonly Piece[]): boolean {
  return pieces.every((piece) => piece.kind !== 'unknown');
}

function matchAny(segment: Segment, names: readonly string[]): string | undefined {
  const text = textOf(segment);
  if (text === undefined) return names.find((name) => couldMatch(segment, name));
  return names.includes(text) ? text : undefined;
}

/** A pattern for whatever a directory holds. */
function coversAll(segment: Segment): boolean {
  if (textOf(segment) !== undefined) return false;
  return COMMON_NAMES.some(
    (names) => names.filter((name) => couldMatch(segment, name)).length * 2 > names.length,
  );
}

const MANY_UPS = 3;

function fromHere({ ups, segments, endsInDots }: Place): Danger {
  const [first, second] = segments;
  if (ups === 0) return 'ordinary';
  const far = ups >= MANY_UPS ? 'vital' : 'unclear';
  if (first === undefined) return endsInDots && ups < MANY_UPS ? 'unclear' : far;
  if (second !== undefined && !(segments.length === 2 && coversAll(second))) return 'ordinary';
  if (coversAll(first)) return far;
  return ups >= 2 && matchAny(first, SYSTEM_DIRECTORIES) !== undefined ? far : 'ordinary';
}

/** `$x/…`: when the variable is empty or `/`, what is behind it is a path from the root. */
function fromUnknown({ segments, ups }: Place): Danger {
  const startsUnknown = segments[0]?.length === 1 && segments[0][0]?.kind === 'unknown';
  const rest = startsUnknown ? segments.slice(1) : segments;
  if (rest.length === 0 || ups > 0) return 'unclear';
  if (rest.length === 1 && rest[0] !== undefined && coversAll(rest[0])) return 'unclear';
  return fromRoot(rest) === 'ordinary' ? 'ordinary' : 'unclear';
}

/** What writing to a path would hit, with a word for people. */
export interface FileDanger {
  readonly kind: Danger;
  readonly what: string;
}

const ORDINARY: FileDanger = { kind: 'ordinary', what: 'a file' };
const UNCLEAR: FileDanger = { kind: 'unclear', what: 'a file' };
const DISK: FileDanger = { kind: 'vital', what: 'a disk' };
const SYSTEM_FILE: FileDanger = { kind: 'vital', what: 'a file the system depends on' };
const STARTUP_FILE: FileDanger = { kind: 'vital', what: 'a file that is run or read at the next login' };

/** What overwriting one file would hit. */
export function dangerOfFile(field: Field, directory: string | undefined): FileDanger {
  const place = toPlace(field, directory);
  const { segments, origin, ups } = place;
  if (field.pieces.some((piece) => piece.kind === 'unknown' && piece.computed === true && !piece.numeric))
    return UNCLEAR;
  if (origin === 'unknown')
    return segments.some((one) => /^(?:dev|etc)$/.test(textOf(one) ?? '')) ? UNCLEAR : ORDINARY;
  // `../../../etc/passwd`: far enough up it can only be the root.
  const isFarUp = ups > 0 && SYSTEM_DIRECTORIES.includes(textOf(segments[0] ?? []) ?? '');
  if (origin !== 'root' && !isFarUp) return ORDINARY;
  if (textOf(segments[0] ?? []) === 'dev') return dangerOfDevice(segments.slice(1));
  if (segments.some((segment) => textOf(segment) === undefined)) return dangerOfPattern(segments);
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

function dangerOfDevice([first, second]: readonly Segment[]): FileDanger {
  if (first === undefined) return UNCLEAR;
  const name = textOf(first);
  if (name === undefined)
    return isKnown(first) && DEVICE_SAMPLES.some((sample) => couldMatch(first, sample)) ? DISK : UNCLEAR;
  if (DEVICE_NAME.test(name)) return /mem|port/.test(name) ? { kind: 'vital', what: 'memory' } : DISK;
  if (second !== undefined && DEVICE_FOLDERS.has(name)) return DISK;
  return HARMLESS_DEVICES.has(name) ? ORDINARY : UNCLEAR;
}

/** What comes of reading a file, when it is one that holds secrets. */
export function secretIn(field: Field, directory: string | undefined): Stream | undefined {
  const path = pathText(field, directory);
  const isSecret = SECRET_FILE.test(path) && !/\.(?:example|sample|template)$/.test(path);
  return isSecret ? { kind: 'secret', path: field.shown } : undefined;
}

const names = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));

/** Directories whose loss breaks the machine. `/tmp` is not one of them. */
const SYSTEM_DIRECTORIES = names(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt nix opt proc root run sbin snap srv sys usr var',
  'Applications Library System Users Volumes cores private',
);

/** Below a system directory, and as bad to lose. */
const SYSTEM_SUBDIRECTORIES: Readonly<Record<string, readonly string[]>> = {
  usr: names('bin include lib lib32 lib64 libexec local sbin share src'),
  var: names('lib log spool mail www db backups'),
  lib: names('modules systemd x86_64-linux-gnu'),
  private: names('etc var tmp'),
};

/** Names that tell a pattern for everything from a pattern for something. */
const COMMON_NAMES = [names('lib passwd nginx apt hosts src work data'), names('.config .ssh .git .cache')];

/** A disk or memory by any of its names; what a pattern is tried on. */
const DEVICE_SAMPLES = names(
  'sda sdb sda1 sdb1 hda hda1 vda vda1 xvda xvda1 nvme0 nvme0n1 nvme0n1p1 mmcblk0 mmcblk0p1',
  'disk0 disk1 rdisk0 md0 dm-0 mem kmem port',
);

const DEVICE_NAME =
  /^(?:(?:sd|hd|vd|xvd)[a-z]{1,3}\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+)?|r?disk\d+(?:s\d+)*|md\d+|dm-\d+|sr\d+|nbd\d+|zd\d+|bcache\d+|mtd(?:block)?\d+|mem|kmem|port|nvram|root)$/;

const DEVICE_FOLDERS: ReadonlySet<string> = new Set(names('disk mapper md block vg zvol'));

/** Things in `/dev` that are there to be written to. */
const HARMLESS_DEVICES: ReadonlySet<string> = new Set(
  names('null zero full tty stdin stdout stderr random urandom ptmx fd shm pts mqueue console tcp udp'),
);

/** Files that decide who may do what on the machine, or what runs on it unasked. */
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

/** What a pattern for a file is tried on. */
const FILE_SAMPLES = [
  ...names('/etc/passwd /etc/shadow /etc/sudoers /etc/fstab /etc/group'),
  ...names('.bashrc .profile .zshrc .bash_profile').flatMap((name) => [`/root/${name}`, `/home/~/${name}`]),
];

/** Files that hold keys, passwords and tokens. */
const SECRET_FILE =
  /(?:^|\/)(?:\.ssh\/(?!known_hosts|.*\.pub$|config$).+|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws\/credentials|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.kube\/config|\.docker\/config\.json|\.gnupg\/.+|\.env(?:\.[\w-]+)?|.+\.pem|.+\.key|master\.key|shadow|gshadow)$/;
