import { codesBehind, type Program, type Programs } from './program.js';

const asks = (reason: string, word = /^/): Program => ({ when: [['ask', word, reason]] });
const asksUnlessHelp = (reason: string): Program => ({ ...asks(reason), harmless: /^--?(?:help|version)$/m });
const blocks = (word: RegExp, reason: string): Program => ({ when: [['block', word, reason]] });
const loses = (word: RegExp): Program => blocks(word, '% would erase data');
const erases = (harmless: RegExp): Program => ({ harmless, erases: true });

/** Only lists what is there. */
const LISTS = /^-(?:-list|-help|-version|\w*[lhVvsdJ]|-dump|-print|-show.*|-verify|-geometry|-getsz)$/m;

/** `systemctl VERB`: the first word that is no option. */
const verb = (verbs: string): RegExp =>
  new RegExp(`^(?:-[tpHMn]\\n.*\\n|-.*\\n)*(?:${verbs.replaceAll(' ', '|')})(?=\\n|$)`);

/** Programs that change the machine: disks, file systems, processes, users, the kernel. */
export const SYSTEM_PROGRAMS: Programs = {
  'mkfs mke2fs mkswap mkdosfs mkntfs mkexfatfs newfs newfs_msdos mkudffs mkreiserfs mkjfs': {
    ...erases(/^(?:--help|--version|-V|-n)$/m),
    short: 'bCdDeEfFgGiIjJlLmMnNoOPrstTuUz',
    operands: ['write'],
    prints: 'nothing',
  },
  wipefs: erases(/(?<![\s\S])(?![\s\S]*^-(?:-all|-offset.*|\w*[ao]\w*|-force)$)/m),
  'blkdiscard pvcreate pvremove flash_erase': { erases: true },
  'fdisk cfdisk sfdisk gdisk': erases(LISTS),
  sgdisk: erases(
    /(?<![\s\S])(?![\s\S]*^-(?:[oZzdn]|-zap|-clear|-delete))[\s\S]*^-(?:p|i|-print|-info.*|O|v)$/m,
  ),
  parted: erases(/^(?:print|-l|--list|-h|--help|-v|--version)$/m),
  cryptsetup: loses(/^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/m),
  hdparm: loses(/^--(?:security-erase|trim-|make-bad-|write-sector|repair-sector|fwdownload|dco-).*/m),
  nvme: loses(/^(?:format|sanitize|write.*|delete-ns)$/m),
  mdadm: loses(/^-(?:-zero-superblock|-create|-stop|C|S)$/m),
  badblocks: loses(/^-\w*[wn]\w*$/m),
  'vgremove lvremove': loses(/^[^-].*/m),
  zpool: loses(/^(?:destroy|create|labelclear)$/m),
  zfs: loses(/^(?:destroy|rollback)$/m),
  flashrom: loses(/^-\w*[wE]/m),
  diskutil: loses(/^(?:erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat)$/im),
  debugfs: asksUnlessHelp('changes disks'),
  'shutdown reboot halt poweroff pm-suspend pm-hibernate kexec': {
    ...blocks(/^/, 'would stop the machine'),
    harmless: /^(?:-c|--help|--version|-w|--wtmp-only|--show)$/m,
  },
  'init telinit': blocks(/^[0156sS]$/m, '% would stop the machine'),
  systemctl: {
    when: [
      ['block', verb('reboot poweroff halt kexec soft-reboot emergency rescue'), 'would stop the machine'],
      ['block', verb('suspend hibernate hybrid-sleep exit isolate'), 'would stop the machine'],
      ['ask', verb('stop disable mask kill edit set-default enable link'), 'changes what the machine runs'],
      ['ask', verb('set-environment import-environment'), 'changes what the machine runs'],
    ],
  },
  kill: {
    harmless: /^-(?:l|L|-list)/,
    prints: 'nothing',
    also(call) {
      const first = call.words[0]?.shown ?? '';
      const signal = /^-(?:s|n|-signal)$/.test(first) ? 2 : /^-(?!-$)./.test(first) ? 1 : 0;
      for (const word of call.words.slice(signal)) {
        // `-1` is every process there is, and process 1 is all of them too.
        if (/^-?0*1$/.test(word.shown)) call.block('kill would end every process.');
        if (word.exact === undefined && (word.pieces[0]?.kind === 'text' || word.isComputed))
          call.ask('Which processes kill ends is computed.');
      }
    },
  },
  killall5: blocks(/^(?![\s\S]*-0)/, 'would end every process'),
  'pkill killall': {
    short: 'FGgPstuU',
    long: 'signal uid euid parent pgroup session terminal pidfile',
    prints: 'nothing',
    also(call, options) {
      const { name, words } = call;
      if (words.some(({ isComputed }) => isComputed)) call.ask(`Which processes ${name} ends is computed.`);
      const isAll = options.operands.some(({ shown }) => /^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/.test(shown));
      const isUser = options.has('u', 'U', 'uid', 'euid') && options.operands.length === 0;
      if (isAll || (isUser && name === 'pkill')) call.block(`${name} would end every process.`);
    },
  },
  mount: {
    short: 'otLU',
    when: [
      ['block', /^-(?:o|-options[=\n]).*\n?.*remount/m, 'would change how the system is mounted'],
      ['ask', /^-a$/m, 'changes the file systems'],
    ],
    also(call, { operands }) {
      if (operands.length > 0) call.ask('mount changes the file systems.');
    },
  },
  umount: {
    ...asks('changes the file systems'),
    short: 'tO',
    also(call, options) {
      const isVital = options.operands.some((word) => call.dangerOfTree(word) === 'vital');
      if (isVital || options.has('a', 'all')) call.block('umount would take away what is in use.');
    },
  },
  swapoff: blocks(/^(?:-a|--all)|\/dev\//m, 'would take away memory that is in use'),
  'iptables ip6tables': blocks(/^-(?:F|-flush|X|P|-policy)/m, 'would open or close the firewall'),
  nft: blocks(/^(?:flush\s+ruleset|delete\s+table)/m, 'would open the firewall'),
  ufw: blocks(/^(?:disable|reset)$/m, 'would open the firewall'),
  setenforce: blocks(/^(?:0|permissive)$/im, 'would switch off a protection of the system'),
  crontab: {
    harmless: /^-l$/m,
    when: [
      ['block', /^-r/m, '% would remove every planned command'],
      ['ask', /^-e/m, '% plans commands that run unasked'],
      ['block', /^(?![\s\S]*^-[re])/, 'would plan commands that run unasked'],
    ],
  },
  'userdel usermod useradd adduser deluser groupdel passwd chpasswd visudo': {
    when: [
      ['block', /^(?:root|toor|0)$/m, 'would change or remove the root user'],
      ['ask', /^/, 'changes who may use the machine'],
    ],
  },
  'insmod modprobe rmmod': asksUnlessHelp('changes the kernel'),
  sysctl: asks('changes the kernel', /=|^-\w*[wp]/m),
  pivot_root: asksUnlessHelp('changes the file systems'),
  switch_root: blocks(/./, 'would remove the root file system'),
  dpkg: asks('runs a command of its own', /^--(?:pre|post)-invoke/m),
  'apt apt-get': asks('runs a command of its own', /::(?:Pre|Post)-Invoke|Pre-Install-Pkgs/),
  'run-parts': asks('runs a command of its own', /./),
  'ssh-keygen': asks('runs a command of its own', /^-D/m),
  nmap: asks('runs a command of its own', /^--(?:script|interactive)/m),
  tcpdump: {
    ...asks('runs a command of its own', /^-z/m),
    short: 'cCGisTyEFBrj',
    options: { w: 'overwrite' },
  },
  openssl: {
    ...asks('runs a command of its own', /^-(?:engine|provider-path)/m),
    also(call) {
      for (const file of codesBehind(call.words, /^--?(?:out|keyout|writerand)$/))
        call.findings.byOption('-out', () => call.overwrite(file));
    },
  },
  'gpg gpg2': {
    short: 'rRuN',
    long: 'recipient hidden-recipient local-user homedir options',
    options: { 'o output': 'overwrite' },
  },
  ctags: asks('runs a command of its own', /^--options/m),
};
