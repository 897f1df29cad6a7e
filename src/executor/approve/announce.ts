import type { ApprovalSettings } from '../call/settings.js';

interface Announced {
  readonly settings: Pick<ApprovalSettings, 'hooks' | 'clock' | 'agent'>;
  readonly conversation: string;
  readonly type: 'permission_prompt' | 'elicitation_dialog';
  /** One line for the person. */
  readonly message: string;
}

/**
 * A person needs longer than this to answer. A faster answer comes from a program or an option, so nothing is
 * announced.
 */
const SOON_MS = 300;

/** Reports a question to the Notification hooks if it is still open after 300 ms. */
export async function announce<T>(announced: Announced, ask: () => Promise<T>): Promise<T> {
  if (announced.settings.hooks.notify === undefined) return ask();
  const forget = announced.settings.clock.after(SOON_MS, () => announceNow(announced));
  try {
    return await ask();
  } finally {
    forget();
  }
}

export function announceNow({ settings, conversation, type, message }: Announced): void {
  const { hooks, agent } = settings;
  hooks.notify?.({ type, message }, { conversation, agent });
}

/** @param summaries one for each call in the question */
export function permissionNeeded(summaries: readonly string[]): string {
  const [first = ''] = summaries;
  return summaries.length === 1
    ? `Permission needed: ${first}`
    : `Permission needed for ${summaries.length} calls: ${first}, …`;
}
