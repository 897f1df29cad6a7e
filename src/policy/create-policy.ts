import type { Policy, PolicyAnswer, PolicyQuestion } from '../contract/policy.js';
import { type PolicyOptions, type SettledPolicyOptions, settlePolicyOptions } from './policy-options.js';

/** FR-APR-04a: word for word. */
const DISABLED: PolicyAnswer = {
  disposition: 'pre_resolved',
  code: 'policy_disabled',
  reason: 'Tool execution disabled by policy',
};

const OUTSIDE_SANDBOX: PolicyAnswer = {
  disposition: 'pre_resolved',
  code: 'sandbox_violation',
  reason: 'The call reaches outside the sandbox; no list and no approval lifts that.',
};

/**
 * The policy of FR-APR-04 and FR-APR-05 (D035–D041): disabled, then denylist, then sandbox, then the mode, then the
 * tool's own requirement. A list entry holds for all names of a tool (decision 1). A name on the allowlist spares the
 * mode's question, never the tool's own.
 *
 * @throws ToolError `config_invalid` for an unknown option or a value that is none.
 */
export function createPolicy(options: PolicyOptions = {}): Policy {
  return new ListPolicy(settlePolicyOptions(options));
}

class ListPolicy implements Policy {
  readonly #enabled: boolean;
  readonly #mode: SettledPolicyOptions['mode'];
  readonly #promptSideEffects: boolean;
  readonly #allowlist: ReadonlySet<string>;
  readonly #denylist: ReadonlySet<string>;

  constructor(options: SettledPolicyOptions) {
    this.#enabled = options.enabled;
    this.#mode = options.mode;
    this.#promptSideEffects = options.promptSideEffects;
    this.#allowlist = new Set(options.allowlist);
    this.#denylist = new Set(options.denylist);
  }

  decide(question: PolicyQuestion): PolicyAnswer {
    const { name, aliases } = question;
    const screened = this.screen(name, aliases);
    if (screened !== undefined) return screened;
    if (question.sandboxViolation === true) return OUTSIDE_SANDBOX;
    const byMode = this.#judgeByMode(question);
    if (byMode.disposition === 'pre_resolved' || !question.requiresApproval) return byMode;
    return {
      disposition: 'requires_confirmation',
      reason: `${name} requires approval, whatever the policy allows.`,
    };
  }

  screen(name: string, aliases?: readonly string[]): PolicyAnswer | undefined {
    if (!this.#enabled) return DISABLED;
    const entry = findEntry(this.#denylist, name, aliases);
    if (entry === undefined) return undefined;
    return {
      disposition: 'pre_resolved',
      code: 'denylisted',
      reason: `${nameEntry(name, entry)} on the denylist.`,
    };
  }

  #judgeByMode({ name, aliases, sideEffecting }: PolicyQuestion): PolicyAnswer {
    const mode = this.#mode;
    if (mode === 'auto') return runs('The policy mode "auto" runs calls unasked.');
    const entry = findEntry(this.#allowlist, name, aliases);
    if (entry !== undefined) return runs(`${nameEntry(name, entry)} on the allowlist.`);
    if (mode === 'deny') {
      return {
        disposition: 'pre_resolved',
        code: 'policy_denied',
        reason: `The policy mode "deny" runs only tools on the allowlist, and ${name} is not on it.`,
      };
    }
    if (!sideEffecting) return runs('The call has no side effects.');
    if (!this.#promptSideEffects)
      return runs('The policy does not ask about side effects (promptSideEffects is off).');
    return {
      disposition: 'requires_confirmation',
      reason: `The policy mode "prompt" asks before a call with side effects, and ${name} is not on the allowlist.`,
    };
  }
}

function runs(reason: string): PolicyAnswer {
  return { disposition: 'execute_now', reason };
}

function findEntry(
  list: ReadonlySet<string>,
  name: string,
  aliases: readonly string[] | undefined,
): string | undefined {
  if (list.has(name)) return name;
  return aliases?.find((alias) => list.has(alias));
}

function nameEntry(name: string, entry: string): string {
  return name === entry ? `${name} is` : `${name} is (as ${entry})`;
}
