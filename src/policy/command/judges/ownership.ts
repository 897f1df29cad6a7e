import { judgeTarget, judgeTree } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import { writeEffect } from '../report-effects.js';
import type { Judge, Judges } from '../shell.js';
import { NOTHING } from '../stream.js';

/** `chmod`, `chown`, `chgrp`, `chattr`, `setfacl`: who may do what. */
const judgeOwnership: Judge = (call) => {
  const { findings, name, scope } = call;
  const isAcl = name === 'setfacl';
  const words = call.words.filter(({ shown }) => !/^[-][rwxXst]+$/.test(shown) || shown === '-R' || isAcl);
  const options = readOptions(words, isAcl ? { short: 'mxMXdk' } : { long: ['from', 'reference'] });
  const hasReference = options.has('reference') || isAcl || words.length < call.words.length;
  const mode = hasReference
    ? (call.words.find(({ shown }) => /^-[rwxXst]+$/.test(shown))?.shown ?? '')
    : (options.operands[0]?.shown ?? '');
  const targets = options.operands.slice(hasReference ? 0 : 1);
  if (options.options.some(({ name: one }) => one.startsWith('no-pre')))
    findings.block(`${name} --no-preserve-root is there to change the root directory.`);
  const recursive = options.has('R', 'recursive');
  for (const target of targets) {
    writeEffect(findings, target, scope);
    const tree = judgeTree(target, scope.directory);
    if (recursive && tree === 'vital')
      findings.block(`${name} would change ${target.shown} with all below it.`);
    else if (recursive && tree === 'unclear')
      findings.ask(`What ${name} would change cannot be told: ${target.shown}`);
    else if (
      !recursive &&
      tree === 'vital' &&
      /^(?:0*[07]{3}|a[-=+]?(?:rwx)?|[ugo]*-.*|-.*|\+w|[ao]+[+=]\w*w\w*)$/.test(mode)
    ) {
      findings.block(`${name} ${mode} would open or close ${target.shown} for everybody.`);
    }
    judgeOne(call, target, mode);
  }
  return NOTHING;
};

function judgeOne(
  { findings, name, scope }: Parameters<Judge>[0],
  target: Parameters<typeof judgeTarget>[0],
  mode: string,
): void {
  const judgement = judgeTarget(target, scope.directory);
  if (judgement.kind === 'vital') findings.block(`${name} would change ${judgement.what}, ${target.shown}.`);
  if (judgement.kind === 'unclear') findings.ask(`${name} changes ${target.shown}.`);
  if (name !== 'chmod' || !/^(?:0*[2467]\d{3}|[ugoa]*[+=]\w*s\w*)$/.test(mode)) return;
  const isSystem = /^\/(?:usr\/)?s?bin\//.test(target.shown);
  if (isSystem) findings.block(`chmod ${mode} lets everybody run ${target.shown} as its owner.`);
  else findings.ask(`chmod ${mode} lets everybody run ${target.shown} as its owner.`);
}

export const OWNERSHIP_JUDGES: Judges = Object.fromEntries(
  ['chmod', 'chown', 'chgrp', 'chattr', 'setfacl', 'chcon', 'chflags', 'gchmod', 'gchown'].map((name) => [
    name,
    judgeOwnership,
  ]),
);
