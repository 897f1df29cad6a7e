import type { PolicyAnswer } from '../../contract/policy.js';
import { byBlock, byHiddenBelow, bySeen, byUnclear } from './by-command.js';
import { byModeDeny, byModePrompt, byRequirement, whyItRuns } from './by-mode.js';
import { byOrigins } from './by-origins.js';
import { byRule } from './by-rule.js';
import { type Evaluation, entryOf, nameEntry } from './evaluation.js';

interface Step {
  readonly name: string;
  /** For the documentation. */
  readonly meaning: string;
  /** It needs neither arguments nor effects, and comes first. */
  readonly byName?: true;
  /** Undefined: the next step decides. */
  readonly answer: (evaluation: Evaluation) => PolicyAnswer | undefined;
}

/**
 * The steps of a decision in order; the first step that answers decides (D041). The code uses this table, and
 * docs/policy.md prints it. So no step can override an earlier one: no rule overrides a step before `rules: deny`, and
 * no consent overrides a refusal.
 */
export const ORDER: readonly Step[] = Object.freeze([
  {
    name: 'disabled',
    meaning: 'The policy is switched off: `policy_disabled`.',
    byName: true,
    answer: ({ basis }) => (basis.enabled ? undefined : DISABLED),
  },
  {
    name: 'denylist',
    meaning: 'One of the names of the tool is on the denylist: `denylisted`.',
    byName: true,
    answer: byDenylist,
  },
  {
    name: 'sandbox',
    meaning: 'The call reaches outside the sandbox: `sandbox_violation`.',
    answer: ({ question }) => (question.sandboxViolation === true ? OUTSIDE_SANDBOX : undefined),
  },
  {
    name: 'blocked command',
    meaning: 'The command analysis says `block`: `security_violation`.',
    answer: byBlock,
  },
  {
    name: 'rules: deny',
    meaning: 'A rule denies a part of the call: `policy_denied`.',
    answer: (evaluation) => byRule(evaluation, 'deny'),
  },
  {
    name: 'mode deny',
    meaning:
      'The mode is `deny`, no rule allows some part of the call, and the tool is not on the allowlist: `policy_denied`.',
    answer: byModeDeny,
  },
  {
    name: 'unclear command',
    meaning:
      'The command analysis says `ask`, or it is not certain whether a rule matches: approval is needed.',
    answer: byUnclear,
  },
  {
    name: 'seen outside',
    meaning:
      'The command analysis sees a path that the sandbox refuses: approval is needed, even if a rule allows the command.',
    answer: bySeen,
  },
  {
    name: 'rules: ask',
    meaning: 'A rule asks about a part of the call: approval is needed.',
    answer: (evaluation) => byRule(evaluation, 'ask'),
  },
  {
    name: 'origins',
    meaning:
      'Text from outside was seen, and the call would send data of the workspace out, reach the network with a command, write a file that runs later, or change something outside with an argument from that text; or private data was read too, and the call can send data to hosts that no rule with `url` names. With `provenance = "ask"` also if the call has any side effect, or changes something outside after a file or the output of a command was read, or fetches an address that contains such text. Approval is needed, unless a rule with `data_from` or `args_from` allows the call.',
    answer: byOrigins,
  },
  {
    name: 'requirement',
    meaning:
      'The tool requires approval, and not every part is allowed by a rule with `path`, `command` or `url` (or, for a part that is not a command, with `args`): approval is needed.',
    answer: byRequirement,
  },
  {
    name: 'mode prompt',
    meaning:
      'The mode is `prompt` with `promptSideEffects`, no rule allows some part of the call that has side effects, and the tool is not on the allowlist: approval is needed.',
    answer: byModePrompt,
  },
  {
    name: 'hidden below',
    meaning:
      'A command reads a directory and everything below it, including files that the sandbox hides, or uses a wildcard that may match hidden files, and nothing hides them from the command: approval is needed.',
    answer: byHiddenBelow,
  },
  { name: 'run', meaning: 'The call runs without a question.', answer: whyItRuns },
]);

/** D036: word for word. */
const DISABLED: PolicyAnswer = Object.freeze({
  disposition: 'pre_resolved',
  code: 'policy_disabled',
  reason: 'Tool execution disabled by policy',
  hint: 'Set policy.enabled to true.',
});

const OUTSIDE_SANDBOX: PolicyAnswer = Object.freeze({
  disposition: 'pre_resolved',
  code: 'sandbox_violation',
  reason: 'The call reaches outside the sandbox; no list, no rule and no approval lifts that.',
});

function byDenylist({ basis, question: { name, aliases } }: Evaluation): PolicyAnswer | undefined {
  const entry = entryOf(basis.denied, name, aliases);
  if (entry === undefined) return undefined;
  return {
    disposition: 'pre_resolved',
    code: 'denylisted',
    reason: `${name} is refused by the policy, whatever its arguments. Do without it.`,
    hint: `${nameEntry(name, entry)} on the denylist.`,
  };
}
