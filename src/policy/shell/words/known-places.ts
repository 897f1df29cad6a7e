const names = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));

/** Directories whose loss breaks the machine. `/tmp` is not one of them. */
export const SYSTEM_DIRECTORIES = names(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt nix opt proc root run sbin snap srv sys usr var',
  'Applications Library System Users Volumes cores private',
);

/** Below a system directory, and as bad to lose. */
export const SYSTEM_SUBDIRECTORIES: Readonly<Record<string, readonly string[]>> = {
  usr: names('bin include lib lib32 lib64 libexec local sbin share src'),
  var: names('lib log spool mail www db backups'),
  lib: names('modules systemd x86_64-linux-gnu'),
  private: names('etc var tmp'),
};

/** Names that tell a pattern for everything from a pattern for something. */
export const COMMON_NAMES = [
  names('lib passwd nginx apt hosts src work data'),
  names('.config .ssh .git .cache'),
];

/** A disk or memory by any of its names; what a pattern is tried on. */
export const DEVICE_SAMPLES = names(
  'sda sdb sda1 sdb1 hda hda1 vda vda1 xvda xvda1 nvme0 nvme0n1 nvme0n1p1 mmcblk0 mmcblk0p1',
  'disk0 disk1 rdisk0 md0 dm-0 mem kmem port',
);

export const DEVICE_NAME =
  /^(?:(?:sd|hd|vd|xvd)[a-z]{1,3}\d*|nvme\d+(?:n\d+(?:p\d+)?)?|mmcblk\d+(?:p\d+|boot\d+)?|r?disk\d+(?:s\d+)*|md\d+|dm-\d+|sr\d+|nbd\d+|zd\d+|bcache\d+|mtd(?:block)?\d+|mem|kmem|port|nvram|root)$/;

export const DEVICE_FOLDERS: ReadonlySet<string> = new Set(names('disk mapper md block vg zvol'));

/** Things in `/dev` that are there to be written to. */
export const HARMLESS_DEVICES: ReadonlySet<string> = new Set(
  names('null zero full tty stdin stdout stderr random urandom ptmx fd shm pts mqueue console tcp udp'),
);

/** Files that decide who may do what on the machine, or what runs on it unasked. */
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

/** Files in a home directory that run at the next login, or that let another user in. */
export const STARTUP_FILES: readonly RegExp[] = [
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|mkshrc|cshrc|tcshrc|login|logout|inputrc|xinitrc|xsession|xsessionrc|xprofile|pam_environment|forward|rhosts|shosts)$/,
  /^\.ssh\/(?:authorized_keys2?|config|rc|environment)$/,
  /^\.config\/(?:fish\/(?:config\.fish|conf\.d\/.*)|autostart\/.*|systemd\/user\/.*|environment\.d\/.*)$/,
  /^\.local\/share\/systemd\/user\/.*$/,
  /^Library\/Launch(?:Agents|Daemons)\/.*$/,
];

/** What a pattern for a file is tried on. */
export const FILE_SAMPLES = [
  ...names('/etc/passwd /etc/shadow /etc/sudoers /etc/fstab /etc/group'),
  ...names('.bashrc .profile .zshrc .bash_profile').flatMap((name) => [`/root/${name}`, `/home/~/${name}`]),
];

/** Files that hold keys, passwords and tokens. */
export const SECRET_FILE =
  /(?:^|\/)(?:\.ssh\/(?!known_hosts|.*\.pub$|config$).+|id_(?:rsa|dsa|ecdsa|ed25519)|\.aws\/credentials|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.pgpass|\.kube\/config|\.docker\/config\.json|\.gnupg\/.+|\.env(?:\.[\w-]+)?|.+\.pem|.+\.key|master\.key|shadow|gshadow)$/;
