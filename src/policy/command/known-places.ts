/** Directories whose loss breaks the machine. `/tmp` is not one of them. */
export const SYSTEM_DIRECTORIES: readonly string[] = [
  ...[
    'bin',
    'boot',
    'dev',
    'etc',
    'home',
    'lib',
    'lib32',
    'lib64',
    'libx32',
    'media',
    'mnt',
    'nix',
    'opt',
    'proc',
  ],
  ...['root', 'run', 'sbin', 'snap', 'srv', 'sys', 'usr', 'var'],
  ...['Applications', 'Library', 'System', 'Users', 'Volumes', 'cores', 'private'],
];

/** Below a system directory, and as bad to lose. */
export const SYSTEM_SUBDIRECTORIES: readonly (readonly [string, string])[] = [
  ...['bin', 'include', 'lib', 'lib32', 'lib64', 'libexec', 'local', 'sbin', 'share', 'src'].map(
    (name) => ['usr', name] as const,
  ),
  ...['lib', 'log', 'spool', 'mail', 'www', 'db', 'backups'].map((name) => ['var', name] as const),
  ...['modules', 'systemd', 'x86_64-linux-gnu'].map((name) => ['lib', name] as const),
  ...['etc', 'var', 'tmp'].map((name) => ['private', name] as const),
];

/** Names that tell a pattern for everything from a pattern for something. */
export const ORDINARY_NAMES: readonly string[] = [
  'lib',
  'passwd',
  'nginx',
  'apt',
  'hosts',
  'src',
  'work',
  'data',
];

/** A disk or memory by any of its names; what a pattern is tried on. */
export const HIDDEN_NAMES: readonly string[] = ['.config', '.ssh', '.git', '.cache'];

export const DEVICE_SAMPLES: readonly string[] = [
  ...[
    'sda',
    'sdb',
    'sda1',
    'sdb1',
    'hda',
    'hda1',
    'vda',
    'vda1',
    'xvda',
    'xvda1',
    'nvme0',
    'nvme0n1',
    'nvme0n1p1',
  ],
  ...['mmcblk0', 'mmcblk0p1', 'disk0', 'disk1', 'rdisk0', 'md0', 'dm-0', 'mem', 'kmem', 'port'],
];

export const DEVICE_NAME =
  /^(?:(?:sd|hd|vd|xvd)[a-z]{1,3}\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+)?|r?disk\d+(?:s\d+)*|md\d+|dm-\d+|sr\d+|nbd\d+|zd\d+|bcache\d+|mtd(?:block)?\d+|mem|kmem|port|nvram|root)$/;

export const DEVICE_FOLDERS: ReadonlySet<string> = new Set(['disk', 'mapper', 'md', 'block', 'vg', 'zvol']);

/** Things in `/dev` that are there to be written to. */
export const HARMLESS_DEVICES: ReadonlySet<string> = new Set([
  ...[
    'null',
    'zero',
    'full',
    'tty',
    'stdin',
    'stdout',
    'stderr',
    'random',
    'urandom',
    'ptmx',
    'fd',
    'shm',
    'pts',
  ],
  ...['mqueue', 'console', 'tcp', 'udp'],
]);

/** Files that decide who may do what on the machine, or what runs on it unasked. Patterns of `matchPlace`. */
export const CRITICAL_FILES: readonly RegExp[] = [
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

/** Files in a home directory that run, or let someone in, at the next login. */
export const STARTUP_FILES: readonly RegExp[] = [
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|logout|inputrc|xinitrc|xsession|xsessionrc|xprofile|pam_environment|forward|rhosts|shosts)$/,
  /^\.ssh\/(?:authorized_keys2?|config|rc|environment)$/,
  /^\.config\/(?:fish\/(?:config\.fish|conf\.d\/.*)|autostart\/.*|systemd\/user\/.*|environment\.d\/.*)$/,
  /^\.local\/share\/systemd\/user\/.*$/,
  /^Library\/Launch(?:Agents|Daemons)\/.*$/,
];

export const STARTUP_SAMPLES: readonly string[] = ['.bashrc', '.profile', '.zshrc', '.bash_profile'];

export const CRITICAL_SAMPLES: readonly string[] = [
  '/etc/passwd',
  '/etc/shadow',
  '/etc/sudoers',
  '/etc/fstab',
  '/etc/group',
];

/** Files that hold what lets somebody in elsewhere. */
export const SECRET_FILE =
  /(?:^|\/)(?:\.ssh\/(?!known_hosts|.*\.pub$|config$).+|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws\/credentials|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.kube\/config|\.docker\/config\.json|\.gnupg\/.+|\.env(?:\.[\w-]+)?|.+\.pem|.+\.key|master\.key|shadow|gshadow)$/;
