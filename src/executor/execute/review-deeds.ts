import type { DeedsReview } from '../../contract/changes.js';
import type { Effect } from '../../contract/effect.js';
import { type ReadyCall, shownEffects } from '../call/evaluated-call.js';
import type { DeedsSettings } from './beyond-consent.js';

/** Compares the changes of a call's commands with the changes that the call declared and was allowed. */
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

/**
 * Whether the effect is a single git command that writes committed versions to the working tree and runs no
 * other command.
 */
function isGitSwitch(effect: Effect): boolean {
  return effect.kind === 'run' && GIT_SWITCH.test(effect.command) && !RUNS_MORE.test(effect.command);
}

const GIT_SWITCH =
  /^\s*git(?:\s+-C\s+[\w./-]+)?\s+(?:checkout|switch|merge|rebase|pull|stash|reset|restore|cherry-pick|revert)(?:\s+[\w./:@^~{}=+-]+)*\s*$/;
const RUNS_MORE = /\s(?:-x|--exec)\b/;
