import type { PolicyAnswer } from '../../contract/policy.js';
import type { RunText } from '../rules/call-part.js';
import { asks, type Evaluation } from './evaluation.js';

export function byBlock(evaluation: Evaluation): PolicyAnswer | undefined {
  if (evaluation.basis.analyzeCommand === undefined) return undefined;
  const blocked = evaluation.runs.find(isBlocked)?.analysis;
  if (blocked === undefined) return undefined;
  const why = blocked.reasons.join(' ');
  const isSaid = /blocked/i.test(why) && /dangerous/i.test(why);
  return {
    disposition: 'pre_resolved',
    code: 'security_violation',
    reason: isSaid ? why : `The command is blocked as dangerous. ${why}`.trim(),
  };
}

export function byUnclear(evaluation: Evaluation): PolicyAnswer | undefined {
  const { basis } = evaluation;
  if (basis.analyzeCommand !== undefined) {
    const unclear = evaluation.runs.find(isUnclear)?.analysis;
    if (unclear !== undefined) {
      const why = unclear.reasons.join(' ');
      return asks(`It is not certain what the command does, so no rule can allow it. ${why}`.trim(), true);
    }
  }
  const { unread } = evaluation;
  if (unread === undefined) return undefined;
  const { part, entry } = unread;
  return asks(`It is not certain whether a rule matches ${part.shown}: ${entry.rule.label}.`, true);
}

export function bySeen(evaluation: Evaluation): PolicyAnswer | undefined {
  const { refusal } = evaluation.question;
  if (refusal === undefined || evaluation.runs.length === 0) return undefined;
  for (const { part } of evaluation.parts) {
    const { run } = part;
    const seen = part.named ?? part.seen;
    if (seen === undefined || !('path' in seen)) continue;
    const why = refusal(seen, run?.from);
    if (why !== undefined)
      return asks(`The command would ${part.shown}, which no file tool may do. ${why}`, true);
  }
  return undefined;
}

/** The last step, so that directories are read only for a call that would run without a question. */
export function byHiddenBelow(evaluation: Evaluation): PolicyAnswer | undefined {
  const { question, runs: lines } = evaluation;
  const { hiddenBelow, expand, transaction } = question;
  if (transaction === true) return undefined;
  for (const { analysis, from } of lines) {
    for (const { reads = [] } of analysis?.found ?? []) {
      for (const path of reads) {
        const hidden = hiddenBelow?.(path, from);
        if (hidden !== undefined)
          return asks(`The command would read what lies below ${path}, and there is ${hidden}.`, true);
        const isBlind =
          expand === undefined || (hiddenBelow !== undefined && expand(path, from) === undefined);
        if (/[*?[]/.test(path) && isBlind)
          return asks(
            `The command would read files by the wildcard ${path}, and some of them may be hidden.`,
            true,
          );
      }
    }
  }
  return undefined;
}

function isUnclear({ analysis }: RunText): boolean {
  return analysis?.verdict === 'ask';
}

function isBlocked({ analysis }: RunText): boolean {
  return analysis?.verdict === 'block';
}
