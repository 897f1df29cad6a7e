import type { DeedsReview } from '../../contract/changes.js';
import type { Effect } from '../../contract/effect.js';
import { type ReadyCall, shownEffects } from '../call/evaluated-call.js';
import type { DeedsSettings } from './beyond-consent.js';

/** Holds what the commands of a call have changed against what the call declared and was allowed. */
export function reviewDeeds(ready: ReadyCall, settings: DeedsSettings, ask: DeedsReview['ask']): DeedsReview {
  const { consent, isAgreed, asksBeyond } = ready;
  return {
    ask,
    expectsCommitted: isAgreed && ready.declared.some(isGitSwitch),
    async unexpected(changes) {
      const { beyondConsent } = await import('./beyond-consent.js');
      const agreed = isAgreed ? shownEffects(ready) : undefined;
      return beyondConsent(changes, { consent, asksBeyond, agreed }, settings);
    },
  };
}

/** One command of git that puts committed versions in the working tree, and runs nothing that a person could not see. */
function isGitSwitch(effect: Effect): boolean {
  return effect.kind === 'run' && GIT_SWITCH.test(effect.command) && !RUNS_MORE.test(effect.command);
}

const GIT_SWITCH =
  /^\s*git(?:\s+-C\s+[\w./-]+)?\s+(?:checkout|switch|merge|rebase|pull|stash|reset|restore|cherry-pick|revert)(?:\s+[\w./:@^~{}=+-]+)*\s*$/;
const RUNS_MORE = /\s(?:-x|--exec)\b/;
