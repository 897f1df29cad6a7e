import type { Evaluators } from './program.js';

/** Programs that end processes, or take file systems away. */
export const SYSTEM_PROGRAMS: Evaluators = {
  kill(call) {
    const first = call.words[0]?.shown ?? '';
    const signal = /^-(?:s|n|-signal)$/.test(first) ? 2 : /^-(?!-$)./.test(first) ? 1 : 0;
    for (const word of call.words.slice(signal)) {
      // `-1` is every process there is, and process 1 is all of them too.
      if (/^-?0*1$/.test(word.shown)) call.block('kill would end every process.');
      if (word.exact === undefined && (word.pieces[0]?.kind === 'text' || word.isComputed))
        call.ask('Which processes kill ends is computed.');
    }
  },
  'pkill killall'(call, options) {
    const { name, words } = call;
    if (words.some(({ isComputed }) => isComputed)) call.ask(`Which processes ${name} ends is computed.`);
    const isAll = options.operands.some(({ shown }) => /^(?:\.\*?|\^?\.?\*?|\^|\$|\^\.\*\$?)$/.test(shown));
    const isUser = options.has('u', 'U', 'uid', 'euid') && options.operands.length === 0;
    if (isAll || (isUser && name === 'pkill')) call.block(`${name} would end every process.`);
  },
  umount(call, options) {
    const isVital = options.operands.some((word) => call.dangerOfTree(word) === 'vital');
    if (isVital || options.has('a', 'all')) call.block('umount would take away what is in use.');
  },
};
