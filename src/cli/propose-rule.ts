import { addUserRule, ruleAsToml, userConfigFile } from '../config/add-user-rule.js';
import type { ApprovalRequest } from '../contract/approval.js';
import type { ToolCall } from '../contract/call.js';
import { hasLeftOut } from '../journal/redaction/left-out.js';
import type { PolicyRule } from '../policy/rules/policy-rule.js';
import type { ProposedRule } from '../terminal/offer-rule.js';
import type { CliContext } from './cli-context.js';
import { readJournalCalls } from './commands/policy/recorded-calls.js';
import { notesAsToml, proposeRules, seenIn } from './commands/policy/suggest.js';
import { LaterPlace } from './later-place.js';
import { openExecutor } from './open-executor.js';
import { type JournalChoice, recordedJournal } from './recorded-journal.js';
import { resolvePlanning } from './resolve-planning.js';

/**
 * The narrowest rule that would have allowed a call: the same command, file or host; for a command that has run, with
 * its changes. Undefined if there is none, and with `--config`, where the person's configuration is not read.
 */
export async function proposeRule(
  { callId, toolName, args, effects, changes }: ApprovalRequest,
  options: JournalChoice,
  context: CliContext,
): Promise<ProposedRule | undefined> {
  if (options.config !== undefined) return undefined;
  const place = new LaterPlace(resolvePlanning(options, context).executor);
  const call = { id: callId, name: toolName, args };
  const seen = changes === undefined ? undefined : seenIn(place);
  const [proposal] = proposeRules([{ call, effects, changes }], place, seen);
  if (proposal === undefined) return undefined;
  const { rule } = proposal;
  return {
    text: `${notesAsToml(proposal)}${ruleAsToml(rule)}`,
    file: userConfigFile(context.env),
    alsoAllows: await allowedBefore(rule, args, options, context),
    write: async () => addUserRule(rule, context.env),
  };
}

/** Other recorded calls that were asked about and would not be with the rule; each once, in words. */
async function allowedBefore(
  rule: PolicyRule,
  own: ToolCall['args'],
  options: JournalChoice,
  context: CliContext,
): Promise<readonly string[]> {
  const journal = recordedJournal(options, context);
  if (journal === undefined) return [];
  const asked = (await readJournalCalls(journal)).filter(
    ({ disposition, call }) =>
      disposition === 'requires_confirmation' &&
      !hasLeftOut(call.args) &&
      JSON.stringify(call.args) !== JSON.stringify(own),
  );
  const { executor: settings } = resolvePlanning(options, context);
  const policy = settings.policy ?? {};
  await using executor = await openExecutor({
    ...settings,
    policy: { ...policy, rules: [...(policy.rules ?? []), rule] },
  });
  const found = new Set<string>();
  for (const { call } of asked) {
    const [planned] = (await executor.plan([call])).calls;
    if (planned?.disposition === 'execute_now') found.add(planned.summary);
  }
  return [...found];
}
