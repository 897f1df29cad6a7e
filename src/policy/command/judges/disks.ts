import { dropPrefix, exactText, type Field, startsUnknown } from '../field.js';
import { judgeTarget } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import { readEffect, writeEffect } from '../report-effects.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { NOTHING, UNKNOWN } from '../stream.js';

const judgeDd: Judge = (call) => {
  for (const word of call.words) {
    if (word.shown.startsWith('if=')) readEffect(call.findings, dropPrefix(word, 3), call.scope);
    else if (word.shown.startsWith('of=')) judgeOverwrite(call, dropPrefix(word, 3));
    else if (exactText(word) === undefined && startsUnknown(word))
      call.findings.ask(`What dd writes to is computed: ${word.shown}`);
  }
  return UNKNOWN;
};

/** Overwriting one path, whoever does it. */
export function judgeOverwrite({ findings, name, scope }: Invocation, target: Field): void {
  const judgement = judgeTarget(target, scope.directory);
  if (judgement.kind === 'vital')
    findings.block(`${name} would overwrite ${judgement.what}, ${target.shown}.`);
  if (judgement.kind === 'unclear')
    findings.ask(`${name} writes to ${target.shown}, and it cannot be told what that hits.`);
  writeEffect(findings, target, scope);
}

/** Makes a new file system: of a disk it takes all, of a plain file that may be meant. */
export const judgeFormat: Judge = (call) => {
  const { operands, has } = readOptions(call.words, { short: 'bCdDeEfFgGiIjJlLmMnNoOPrstTuUz' });
  if (has('help', 'version') || call.words.some(({ shown }) => shown === '-V' || shown === '-n'))
    return NOTHING;
  const onDisk = call.words.filter((word) => judgeTarget(word, call.scope.directory).kind !== 'ordinary');
  const target = onDisk[0] ?? call.words.find(({ shown }) => shown.startsWith('/dev/'));
  if (target !== undefined) call.findings.block(`${call.name} would erase ${target.shown}.`);
  else if (operands.length > 0)
    call.findings.ask(`${call.name} makes a file system and erases what was there.`);
  for (const operand of operands) writeEffect(call.findings, operand, call.scope);
  return NOTHING;
};

/** Partition tables and signatures: looking is fine. */
const changesDisk =
  (looksOnly: (words: readonly string[]) => boolean): Judge =>
  (call) => {
    const texts = call.words.map(({ shown }) => shown);
    if (looksOnly(texts)) return UNKNOWN;
    const device = call.words.find(
      (word) => /^\/dev\//.test(word.shown) || judgeTarget(word, call.scope.directory).kind === 'vital',
    );
    if (device !== undefined) call.findings.block(`${call.name} would change or erase ${device.shown}.`);
    else if (texts.some((text) => !text.startsWith('-'))) call.findings.ask(`${call.name} changes disks.`);
    return UNKNOWN;
  };

const never = () => false;
const lists = (words: readonly string[]) =>
  words.some((word) =>
    /^-(?:-list|-help|-version|\w*[lhVvsdJ]|-dump|-print|-show.*|-verify|-geometry|-getsz)$/.test(word),
  );
const printsOnly = (words: readonly string[]) =>
  words.some((word) => /^(?:print|-l|--list|-h|--help|-v|--version)$/.test(word));

const erases =
  (when: RegExp): Judge =>
  (call) => {
    const hit = call.words.find((word) => when.test(word.shown));
    if (hit !== undefined) call.findings.block(`${call.name} ${hit.shown} would erase data.`);
    return UNKNOWN;
  };

const FORMATTERS = [
  'mkfs',
  'mke2fs',
  'mkswap',
  'mkdosfs',
  'mkntfs',
  'mkexfatfs',
  'newfs',
  'newfs_msdos',
  'mkudffs',
  'mkreiserfs',
  'mkjfs',
];

export const DISK_JUDGES: Judges = {
  ...Object.fromEntries(FORMATTERS.map((name) => [name, judgeFormat])),
  dd: judgeDd,
  dcfldd: judgeDd,
  dc3dd: judgeDd,
  ddrescue: (call) => {
    const target = readOptions(call.words).operands[1];
    if (target !== undefined) judgeOverwrite(call, target);
    return UNKNOWN;
  },
  wipefs: changesDisk((words) => !words.some((word) => /^-(?:-all|-offset.*|\w*[ao]\w*|-force)$/.test(word))),
  blkdiscard: changesDisk(never),
  fdisk: changesDisk(lists),
  cfdisk: changesDisk(lists),
  sfdisk: changesDisk(lists),
  gdisk: changesDisk(lists),
  sgdisk: changesDisk(
    (words) =>
      words.some((word) => /^-(?:p|i|-print|-info.*|O|v|-verify|b.*|-backup.*)$/.test(word)) &&
      !words.some((word) => /^-(?:[oZzdn]|-zap.*|-clear|-delete.*)/.test(word)),
  ),
  parted: changesDisk(printsOnly),
  partprobe: () => UNKNOWN,
  cryptsetup: erases(/^(?:luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt)$/),
  hdparm: erases(
    /^--(?:security-erase.*|trim-sector.*|make-bad-sector|write-sector|repair-sector|fwdownload.*|dco-.*)$/,
  ),
  nvme: erases(/^(?:format|sanitize|write.*|delete-ns)$/),
  mdadm: erases(/^--(?:zero-superblock|create|stop)$|^-(?:C|S)$/),
  badblocks: erases(/^-\w*[wn]\w*$/),
  pvcreate: changesDisk(never),
  pvremove: changesDisk(never),
  vgremove: erases(/^[^-]/),
  lvremove: erases(/^[^-]/),
  zpool: erases(/^(?:destroy|create|labelclear)$/),
  zfs: erases(/^(?:destroy|rollback)$/),
  flashrom: erases(/^-\w*[wE]/),
  flash_erase: changesDisk(never),
  diskutil: erases(/^(?:erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat)$/i),
};

/** `mkfs.ext4` and all its kin. */
export function isFormatter(name: string): boolean {
  return /^(?:mkfs[._-]\w+|newfs_\w+)$/.test(name);
}
