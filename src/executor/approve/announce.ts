import type { ApprovalSettings } from '../call/settings.js';

interface Announced {
  readonly settings: Pick<ApprovalSettings, 'hooks' | 'clock' | 'agent'>;
  readonly conversation: string;
  readonly type: 'permission_prompt' | 'elicitation_dialog';
  /** For the person: one line. */
  readonly message: string;
}

/** No person answers sooner: until then it may be an option that answers. */
const SOON_MS = 300;

/** Reports a question to the Notification hooks, unless it is answered at once. */
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

/** @param summaries of the calls that are asked for */
export function permissionNeeded(summaries: readonly string[]): string {
  const [first = ''] = summaries;
  return summaries.length === 1
    ? `Permission needed: ${first}`
    : `Permission needed for ${summaries.length} calls: ${first}, …`;
}
