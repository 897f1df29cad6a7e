import type { Judge, Judges } from '../shell.js';
import { INHERITED } from '../stream.js';
import { judgeFilter } from './text-tools.js';

/** `less '+!command'`: what stands behind `+` is typed for the person, and `!` runs a command. */
const judgePager: Judge = (call) => {
  for (const { shown } of call.words) {
    const code = /^\+\+?[!|#](.+)$/s.exec(shown)?.[1];
    if (code === undefined) continue;
    call.findings.ask(`${call.name} runs a command: ${code}`);
    call.shell.runText(code, call.scope.copy(), INHERITED);
  }
  return judgeFilter({ ...call, words: call.words.filter(({ shown }) => !shown.startsWith('+')) });
};

export const PAGER_JUDGES: Judges = { less: judgePager, more: judgePager, most: judgePager };
