import { exactText } from '../field.js';
import { judgeTree } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { NOTHING, UNKNOWN } from '../stream.js';

const shown = ({ words }: Invocation): string[] => words.map((word) => word.shown);

const judgePower: Judge = (call) => {
  const words = shown(call);
  const isCancel = words.some((word) => /^(?:-c|--help|--version|-w|--wtmp-only|--show)$/.test(word));
  if (!isCancel) call.findings.block(`${call.name} would stop the machine.`);
  return NOTHING;
};

const judgeInit: Judge = (call) => {
  const level = shown(call).find((word) => !word.startsWith('-'));
  if (level !== undefined && /^[0156sS]$/.test(level))
    call.findings.block(`${call.name} ${level} would stop the machine.`);
  return NOTHING;
};

const STOPS =
  /^(?:reboot|poweroff|halt|kexec|soft-reboot|emergency|rescue|suspend|hibernate|hybrid-sleep|exit|isolate)$/;

const judgeSystemctl: Judge = (call) => {
  const verb = readOptions(call.words, { short: 'tpHMn' }).operands[0]?.shown ?? '';
  if (STOPS.test(verb)) call.findings.block(`systemctl ${verb} would stop the machine.`);
  else if (
    /^(?:stop|disable|mask|kill|edit|set-default|enable|link|set-environment|import-environment)$/.test(verb)
  ) {
    call.findings.ask(`systemctl ${verb} changes what the machine runs.`);
  }
  return UNKNOWN;
};

/** `kill -9 -1` reaches every process there is; process 1 is all of them too. */
const judgeKill: Judge = (call) => {
  const words = shown(call);
  let at = 0;
  const [first = ''] = words;
  if (/^-(?:s|n|-signal)$/.test(first)) at = 2;
  else if (/^-./.test(first) && first !== '--') at = 1;
  if (/^-(?:l|L|-list)/.test(first)) return UNKNOWN;
  const rest = words.slice(at).filter((word) => word !== '--');
  if (rest.some((word) => /^(?:-0*1|0*1)$/.test(word))) call.findings.block('kill would end every process.');
  if (call.words.slice(at).some((word) => exactText(word) === undefined && word.pieces[0]?.kind === 'text')) {
    call.findings.ask('Which processes kill ends is computed.');
  }
  return NOTHING;
};

const judgePkill: Judge = (call) => {
  const options = readOptions(call.words, {
    short: 'FGgPstuUs',
    long: ['signal', 'uid', 'euid', 'parent', 'pgroup', 'session', 'terminal', 'pidfile'],
  });
  const patterns = options.operands.map((word) => word.shown);
  if (patterns.some((word) => /^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/.test(word)))
    call.findings.block(`${call.name} would end every process.`);
  if (call.name === 'pkill' && options.has('u', 'U', 'uid', 'euid') && patterns.length === 0)
    call.findings.block('pkill would end every process of a user.');
  return NOTHING;
};

const judgeMount: Judge = (call) => {
  const words = shown(call);
  const options = words.filter(
    (word, index) => /^-o.|^--options=/.test(word) || /^(?:-o|--options)$/.test(words[index - 1] ?? ''),
  );
  if (options.some((word) => /remount/.test(word)))
    call.findings.block('mount would change how the root of the system is mounted.');
  else if (readOptions(call.words, { short: 'otLU' }).operands.length > 0 || words.includes('-a'))
    call.findings.ask('mount changes the file systems.');
  return UNKNOWN;
};

const judgeUnmount: Judge = (call) => {
  const options = readOptions(call.words, { short: 'tO' });
  const isVital =
    options.has('a', 'all') ||
    options.operands.some((word) => judgeTree(word, call.scope.directory) === 'vital');
  if (isVital) call.findings.block(`${call.name} would take away file systems that are in use.`);
  else call.findings.ask(`${call.name} changes the file systems.`);
  return NOTHING;
};

const blocks =
  (when: RegExp, what: string): Judge =>
  (call) => {
    const text = shown(call).join(' ');
    if (when.test(text)) call.findings.block(`${call.name} would ${what}.`);
    return UNKNOWN;
  };

const asks =
  (what: string): Judge =>
  (call) => {
    if (!shown(call).some((word) => /^--?(?:help|version)$/.test(word)))
      call.findings.ask(`${call.name} ${what}.`);
    return UNKNOWN;
  };

const judgeCrontab: Judge = (call) => {
  const options = readOptions(call.words, { short: 'u' });
  if (options.has('r')) call.findings.block('crontab -r would remove every planned command.');
  else if (options.has('e')) call.findings.ask('crontab -e plans commands that run unasked.');
  else if (!options.has('l')) call.findings.block('crontab would plan commands that run unasked.');
  return UNKNOWN;
};

const judgeUserChange: Judge = (call) => {
  const words = shown(call);
  if (words.some((word) => /^(?:root|toor|0)$/.test(word)))
    call.findings.block(`${call.name} would change or remove the root user.`);
  else call.findings.ask(`${call.name} changes who may use the machine.`);
  return NOTHING;
};

export const POWER_JUDGES: Judges = {
  ...Object.fromEntries(
    ['shutdown', 'reboot', 'halt', 'poweroff', 'pm-suspend', 'pm-hibernate', 'kexec'].map((name) => [
      name,
      judgePower,
    ]),
  ),
  init: judgeInit,
  telinit: judgeInit,
  systemctl: judgeSystemctl,
  kill: judgeKill,
  killall: judgePkill,
  killall5: blocks(/^(?!.*-0)/, 'end every process'),
  pkill: judgePkill,
  mount: judgeMount,
  umount: judgeUnmount,
  swapoff: blocks(/-a|--all|\/dev\//, 'take away memory that is in use'),
  iptables: blocks(/(?:^| )(?:-F|--flush|-X|-P|--policy)/, 'open or close the firewall'),
  ip6tables: blocks(/(?:^| )(?:-F|--flush|-X|-P|--policy)/, 'open or close the firewall'),
  nft: blocks(/flush ruleset|delete table/, 'open the firewall'),
  ufw: blocks(/\b(?:disable|reset)\b/, 'open the firewall'),
  setenforce: blocks(/^(?:0|permissive)$/i, 'switch off a protection of the system'),
  crontab: judgeCrontab,
  userdel: judgeUserChange,
  usermod: judgeUserChange,
  useradd: judgeUserChange,
  adduser: judgeUserChange,
  deluser: judgeUserChange,
  groupdel: judgeUserChange,
  passwd: judgeUserChange,
  chpasswd: judgeUserChange,
  visudo: judgeUserChange,
  insmod: asks('changes the kernel'),
  modprobe: asks('changes the kernel'),
  rmmod: asks('changes the kernel'),
  sysctl: (call) => {
    if (shown(call).some((word) => word.includes('=') || /^-\w*[wp]/.test(word)))
      call.findings.ask('sysctl changes the kernel.');
    return UNKNOWN;
  },
  debugfs: asks('changes disks'),
  pivot_root: asks('changes the file systems'),
  switch_root: blocks(/./, 'remove the root file system'),
};
