import type { Call } from '../words/call.js';
import type { Field } from '../words/field.js';
import type { Options } from '../words/options.js';
import type { Program, Programs } from './program.js';

type Verdicts = NonNullable<Program['verdicts']>;

const erases = (words: RegExp): Program => ({ verdicts: [['block', words, '% would erase data']] });
const asks = (words: RegExp, reason: string, harmless?: RegExp): Program => ({
  verdicts: [['ask', words, reason]],
  ...(harmless === undefined ? {} : { harmless }),
});
/** Erases the disk that it is given. */
const eraser = (harmless?: RegExp, more: Program = {}): Program => ({
  ...more,
  ...(harmless === undefined ? {} : { harmless }),
  evaluate: eraseDisk,
});

/** Words of systemctl after options and their values. */
const unit = (words: string, reason: string, verdict: 'ask' | 'block'): Verdicts[number] => [
  verdict,
  new RegExp(String.raw`^(?:-[tpHMn]\n.*\n|-.*\n)*(?:${words})(?=\n|$)`),
  reason,
];

const HELP = /^--?(?:help|version)$/m;

/**
 * Programs that destroy or change the machine rather than files: disks, power, processes, mounts, the clock,
 * the kernel, users.
 */
export const MACHINE_PROGRAMS: Programs = {
  'mkfs mke2fs mkswap mkdosfs mkntfs mkexfatfs newfs newfs_msdos mkudffs mkreiserfs mkjfs': eraser(
    /^(?:--help|--version|-V|-n)$/m,
    { options: 'bCdDeEfFgGiIjJlLmMnNoOPrstTuUz', operands: ['write'], prints: 'nothing' },
  ),
  wipefs: eraser(/^(?!(?:.*\n)*-(?:-all|-offset.*|\w*[ao]\w*|-force)(?:\n|$))/),
  'blkdiscard pvcreate pvremove flash_erase': eraser(),
  'fdisk cfdisk sfdisk gdisk': eraser(
    /^-(?:-list|-help|-version|\w*[lhVvsdJ]|-dump|-print|-show.*|-verify|-geometry|-getsz)$/m,
  ),
  sgdisk: eraser(
    /^(?!(?:.*\n)*-(?:[oZzdn]|-zap|-clear|-delete))(?:.*\n)*-(?:p|i|-print|-info.*|O|v)(?:\n|$)/,
  ),
  parted: eraser(/^(?:print|-l|--list|-h|--help|-v|--version)$/m),
  cryptsetup: erases(/^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/m),
  hdparm: erases(/^--(?:security-erase|trim-|make-bad-|write-sector|repair-sector|fwdownload|dco-).*/m),
  nvme: erases(/^(?:format|sanitize|write.*|delete-ns)$/m),
  mdadm: erases(/^-(?:-zero-superblock|-create|-stop|C|S)$/m),
  badblocks: erases(/^-\w*[wn]\w*$/m),
  'vgremove lvremove': erases(/^[^-].*/m),
  zpool: erases(/^(?:destroy|create|labelclear)$/m),
  zfs: erases(/^(?:destroy|rollback)$/m),
  flashrom: erases(/^-\w*[wE]/m),
  diskutil: erases(/^(?:erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat)$/im),
  debugfs: asks(/^/, 'changes disks', HELP),
  'shutdown reboot halt poweroff pm-suspend pm-hibernate kexec': {
    harmless: /^(?:-c|--help|--version|-w|--wtmp-only|--show)$/m,
    verdicts: [['block', /^/, 'would stop the machine']],
  },
  'init telinit': { verdicts: [['block', /^[0156sS]$/m, '% would stop the machine']] },
  systemctl: {
    verdicts: [
      unit(
        'stop|disable|mask|kill|edit|set-default|enable|link|\\w+-environment',
        'changes what runs',
        'ask',
      ),
      unit(
        'reboot|poweroff|halt|kexec|soft-reboot|emergency|suspend|hibernate|hybrid-sleep|exit|isolate|rescue',
        'would stop the machine',
        'block',
      ),
    ],
  },
  kill: {
    harmless: /^-(?:l|L|-list)/,
    prints: 'nothing',
    verdicts: [
      [
        'block',
        /^(?:-(?:[sn]|-signal)\n.*\n|-(?!-\n)..*\n|(?=[^-]|--\n))(?:.*\n)*-?0*1(?:\n|$)/,
        'would end every process',
      ],
    ],
    evaluate(call) {
      if (call.words.some(({ exact, pieces }) => exact === undefined && pieces[0]?.kind === 'text'))
        call.ask('Which processes kill ends is computed.');
    },
  },
  killall5: { verdicts: [['block', /^(?!(?:.*\n)*.*-0)/, 'would end every process']] },
  'pkill killall': {
    options: 'FGgPstuU signal uid euid parent pgroup session terminal pidfile',
    prints: 'nothing',
    verdicts: [
      ['block', /^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/m, 'would end every process'],
      [
        'block',
        /^(?:-[FGgPst]\n.*\n|-.*\n)*-(?:[uU]|-e?uid)=?\n?[^-\n]+(?:\n-[FGgPst]\n.*|\n-.*)*$/,
        'would end every process',
      ],
    ],
  },
  mount: {
    harmless: /^(?:|-l|--help|--version)$/,
    verdicts: [
      ['block', /^-(?:o|-options[=\n]).*\n?.*remount/m, 'would change how the system is mounted'],
      ['ask', /^/, 'changes the file systems'],
    ],
  },
  umount: {
    verdicts: [
      [
        'block',
        /^-(?:\w*a|-all)|^\/(?:(?:etc|usr|var|home|boot|proc|sys|dev|run)\/*)?$/m,
        'would take away what is in use',
      ],
      ['ask', /^/, 'changes the file systems'],
    ],
  },
  'swapon losetup dmsetup cgcreate': asks(
    /^[^-]|^-\w*[acdf]/m,
    'changes the file systems, or what the machine uses',
  ),
  swapoff: { verdicts: [['block', /^(?:-a|--all)|\/dev\//m, 'would take away memory that is in use']] },
  'iptables ip6tables': {
    verdicts: [['block', /^-(?:F|-flush|X|P|-policy)/m, 'would open or close the firewall']],
  },
  nft: { verdicts: [['block', /^(?:flush\s+ruleset|delete\s+table)/m, 'would open the firewall']] },
  ufw: { verdicts: [['block', /^(?:disable|reset)$/m, 'would open the firewall']] },
  setenforce: {
    verdicts: [['block', /^(?:0|permissive)$/im, 'would switch off a protection of the system']],
  },
  crontab: {
    harmless: /^-l$/m,
    verdicts: [
      ['block', /^-r/m, '% would remove every planned command'],
      ['ask', /^-e/m, '% plans commands that run unasked'],
      ['block', /^(?!-[re])/, 'would plan commands that run unasked'],
    ],
  },
  'at batch': asks(/^/, 'plans commands that run unasked', /^-(?:l|r|d|c|f|V)/m),
  'userdel usermod useradd adduser deluser groupdel groupadd groupmod passwd chpasswd chsh chfn visudo vipw gpasswd':
    {
      verdicts: [
        ['block', /^(?:root|toor|0)$/m, 'would change or remove the root user'],
        ['ask', /^/, 'changes who may use the machine'],
      ],
    },
  'insmod modprobe rmmod depmod': asks(/^/, 'changes the kernel', HELP),
  sysctl: asks(/=|^-\w*[wp]/m, 'changes the kernel'),
  date: asks(/^(?:-\w*s|--set|\d{8})/m, 'sets the clock'),
  'hwclock rtcwake adjtimex ntpdate chronyd': asks(
    /^/,
    'sets the clock',
    /^(?:|-r|--show|--get|--help|--version)$/m,
  ),
  timedatectl: asks(/^set-/m, 'sets the clock'),
  hostnamectl: asks(/^(?:set-|hostname\n.)/m, 'changes the name of the machine'),
  hostname: asks(/^(?!-)./m, 'changes the name of the machine'),
  pivot_root: asks(/^/, 'changes the file systems', HELP),
  switch_root: { verdicts: [['block', /./, 'would remove the root file system']] },
};

function eraseDisk(call: Call, { operands }: Options): void {
  const isDisk = (one: Field) => one.shown.startsWith('/dev/') || call.dangerOfFile(one).kind !== 'ordinary';
  const disk = call.words.find(isDisk);
  if (disk !== undefined) call.block(`${call.name} would erase ${disk.shown}.`);
  else if (operands.length > 0) call.ask(`${call.name} erases what is on a disk.`);
}
