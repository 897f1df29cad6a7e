import type { Call } from '../words/call.js';
import type { Options } from '../words/options.js';
import { evaluateUnknown, type Program, type Programs, type Verdict } from './program.js';

const blocks = (words: RegExp, reason: string): Verdict => ['block', words, reason];
const asks = (words: RegExp, reason: string): Verdict => ['ask', words, reason];
const one = (verdict: Verdict, harmless?: RegExp): Program => ({
  verdicts: [verdict],
  ...(harmless === undefined ? {} : { harmless }),
});

const erases = (words: RegExp): Program => one(blocks(words, '% would erase data'));

const ENDS_ALL: readonly Verdict[] = [
  blocks(/^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/m, 'would end every process'),
  blocks(
    /^(?:-.*\n)*-(?:[uU]|-e?uid)=?\n?[^-\n]+(?:\n-[FGgPst]\n.*|\n-.*)*$/,
    'would end every process of a user',
  ),
];

/** A unit whose start stops the machine. */
const STOPS =
  /^(?:(?:re)?start|isolate)\n(?:.*\n)*(?:reboot|poweroff|halt|kexec|soft-reboot|emergency|rescue|suspend|hibernate|hybrid-sleep|exit|shutdown|runlevel[06])\.target$/m;

const HELP = /^--?(?:help|version|V)$/m;

/**
 * Programs that must not run unread: they erase disks, stop the machine, end every process, or change the clock, the
 * kernel, mounts, the firewall, users or scheduled commands.
 */
export const MACHINE_PROGRAMS: Programs = {
  'mkfs mke2fs mkswap mkdosfs mkntfs mkexfatfs newfs mkudffs mkreiserfs mkjfs': {
    options: 'bCdDeEfFgGiIjJlLmMnNoOPrstTuUz',
    operands: 'write',
    prints: 'nothing',
    // Alone: some of these take the next word, such as a label, as the value of `-n` or `-V`.
    harmless: /^(?:--help|--version|-V)$/,
    evaluate: eraseDisk,
  },
  wipefs: { harmless: /^(?!(?:.*\n)*-(?:-[aof].*|\w*[ao].*)(?:\n|$))/, evaluate: eraseDisk },
  'blkdiscard pvcreate pvremove flash_erase': { evaluate: eraseDisk },
  'fdisk cfdisk sfdisk gdisk parted': { harmless: onlyShows('lhVvJd'), evaluate: eraseDisk },
  sgdisk: { harmless: onlyShows('hVvpi'), evaluate: eraseDisk },
  cryptsetup: erases(/^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/m),
  hdparm: erases(/^--(?:security-erase|trim-|make-bad-|write-sector|repair-sector|fwdownload|dco-).*/m),
  nvme: erases(/^(?:format|sanitize|write.*|delete-ns)$/m),
  mdadm: erases(/^-(?:-zero-superblock|-create|-stop|C|S)$/m),
  'badblocks flashrom': erases(/^-\w*[wnE]\w*$/m),
  'vgremove lvremove': erases(/^[^-].*/m),
  'zpool zfs diskutil': erases(
    /^(?:destroy|create|labelclear|rollback|erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat)$/im,
  ),
  debugfs: one(asks(/^/, 'changes disks'), HELP),
  'shutdown reboot halt poweroff pm-suspend pm-hibernate kexec': one(
    blocks(/^/, 'would stop the machine'),
    /^(?:-c|--help|--version|-w|--wtmp-only|--show)$/m,
  ),
  'init telinit': one(blocks(/^[0156sS]$/m, '% would stop the machine')),
  'systemctl loginctl': {
    verdicts: [
      blocks(
        unit(
          'reboot|poweroff|halt|kexec|soft-reboot|emergency|suspend|hibernate|hybrid-sleep|exit|isolate|rescue',
        ),
        'would stop the machine',
      ),
      blocks(STOPS, 'would stop the machine'),
      asks(unit('stop|disable|mask|kill|edit|set-default|enable|link|\\w+-environment'), 'changes what runs'),
    ],
  },
  kill: {
    harmless: /^-(?:l|L|-list)/,
    prints: 'nothing',
    verdicts: [
      blocks(
        /^(?:-(?:[sn]|-signal)\n.*\n|-(?!-\n)..*\n|(?=[^-]|--\n))(?:.*\n)*-?0*1(?:\n|$)/,
        'would end every process',
      ),
    ],
  },
  killall5: one(blocks(/^(?!(?:.*\n)*.*-0)/, 'would end every process')),
  pkill: {
    prints: 'nothing',
    verdicts: [...ENDS_ALL, blocks(/^-(?:\w*v\w*|-inv\w*)$/m, 'would end all other processes')],
  },
  killall: { prints: 'nothing', verdicts: ENDS_ALL },
  mount: {
    harmless: /^(?:|-l|--help|--version)$/,
    verdicts: [
      blocks(/^-(?:o|-options[=\n]).*\n?.*remount/m, 'would change how the system is mounted'),
      asks(/^/, 'changes the file systems'),
    ],
  },
  umount: {
    verdicts: [
      blocks(
        /^-(?:\w*a|-all)|^\/(?:(?:etc|usr|var|home|boot|proc|sys|dev|run)\/*)?$/m,
        'would take away what is in use',
      ),
      asks(/^/, 'changes the file systems'),
    ],
  },
  swapoff: one(blocks(/^(?:-a|--all)|\/dev\//m, 'would take away memory that is in use')),
  'swapon losetup dmsetup cgcreate pivot_root switch_root grub-install': one(
    asks(/^/, 'changes the file systems, or what the machine uses'),
    HELP,
  ),
  'iptables ip6tables nft ufw setenforce': {
    verdicts: [
      blocks(
        /^-(?:F|-flush|X|P|-policy)|^flush\s+ruleset|^(?:disable|reset|0|permissive)$/im,
        'would switch off a protection of the machine',
      ),
    ],
  },
  crontab: {
    harmless: /^-l$/m,
    verdicts: [
      asks(/^-e/m, 'plans commands that run unasked'),
      blocks(/^(?!-e)/, 'would change which commands run unasked'),
    ],
  },
  'at batch': one(asks(/^/, 'plans commands that run unasked'), /^-[lrdcV]/),
  'userdel usermod useradd adduser deluser groupdel groupadd groupmod passwd chpasswd chsh chfn visudo vipw gpasswd setfacl':
    {
      verdicts: [
        blocks(/^(?:root|toor|0)$/m, 'would change or remove the root user'),
        asks(/^/, 'changes who may use the machine'),
      ],
    },
  'insmod modprobe rmmod depmod': one(asks(/^/, 'changes the kernel'), HELP),
  sysctl: one(asks(/=|^-(?:\w*[wp]|-(?:load|system))/m, 'changes the kernel')),
  date: one(asks(/^(?:-[uR]*s|--s|(?<!^(?:-[uR]*d|--date)\n)\d{8})/m, 'sets the clock')),
  'hwclock rtcwake adjtimex ntpdate chronyd': one(
    asks(/^/, 'sets the clock'),
    /^(?:|-r|--show|--get|--help|--version)$/m,
  ),
  'timedatectl hostnamectl': one(asks(/^set-|^hostname\n./m, 'sets the clock, or the name of the machine')),
  hostname: one(asks(/^(?!-)./m, 'changes the name of the machine')),
  'ip bridge tc ifconfig route brctl iw nmcli rfkill': {
    harmless: /^(?!(?:.*\n)*(?:exec|-b(?:atch)?)(?:\n|$))(?:.*\n)*(?:show|list|ls|get)(?:\n|$)/,
    verdicts: [
      asks(
        /^(?:add|append|change|set|replace|modify|delete|del|flush|exec|up|down|(?:un)?block|(?:dis)?connect|(?:add|del)(?:br|if)|-b(?:atch)?)$/m,
        'changes the network of the machine',
      ),
    ],
    evaluate: evaluateUnknown,
  },
  // They build code of their words, or run it elsewhere.
  'parallel tmux screen start-stop-daemon': one(
    asks(/^(?!-?-?(?:ls|list(?:-\w+)?|version|help|V)$)/, 'runs its own commands'),
  ),
  'fd fdfind': one(asks(/^-(?:\w*[xX]|-exec)|.[$\x60]/m, 'runs a command for what it finds')),
};

/**
 * Only words of a program for partitions that show something: others beside them may erase, as in `mklabel gpt print`.
 * @param letters its options that only show
 */
function onlyShows(letters: string): RegExp {
  const shows = String.raw`(?:print|--(?:list|help|version|json|dump|print|show\S*|verify|info\S*|geometry)|-[${letters}]+)(?=\n|$)`;
  const other = String.raw`(?:--script|--machine|-s|-m|-sm|unit|free|list|all|devices|%|\w?i?B|s|\d+|\/.*)(?=\n|$)`;
  return new RegExp(String.raw`^(?=(?:.*\n)*${shows})(?:(?:${shows}|${other})(?:\n|$))+$`);
}

/** Words of systemctl after options and their values. */
function unit(words: string): RegExp {
  return new RegExp(
    String.raw`^(?:(?:-[tpHMn]|--(?:host|machine|root|type|property))\n.*\n|-.*\n)*(?:${words})(?=\n|$)`,
  );
}

function eraseDisk(call: Call, { operands }: Options): void {
  const disk = call.words.find(
    (word) => word.shown.startsWith('/dev/') || call.dangerOfFile(word).kind !== 'ordinary',
  );
  if (disk !== undefined) call.block(`${call.name} would erase ${disk.shown}.`);
  else if (operands.length > 0) call.ask(`${call.name} erases what is on a disk.`);
}
