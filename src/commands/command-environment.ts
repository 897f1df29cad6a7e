import { checkOptions, isBoolean, type OptionRules, option } from '../base/normalize-options.js';
import { environmentIgnoresCase } from '../platform/runtime/environment.js';
import { isPlainSecretName } from './environment-rules.js';
import { createNameMatcher } from './match-name.js';
import { ENVIRONMENT_OPTIONS, type EnvironmentOptions, sanitizeEnvironment } from './sanitize-environment.js';

/**
 * The environment of a command: sanitised, and set so that no program starts a pager, prompts or opens an
 * editor, because no person is there to answer (D060, D107). Variables with the plain name of a secret
 * (`TOKEN`, `db_password`) are removed too. Names in `pass` keep their values.
 * @param given `isAttended`: a person is there, so programs may page, prompt and open an editor
 * @throws ToolError `config_invalid` for an invalid option, and for a value that is not a text
 */
export function commandEnvironment(
  env: Readonly<Record<string, string>>,
  given: EnvironmentOptions & { readonly isAttended?: boolean } = {},
): Record<string, string> {
  checkOptions('options', given, RULES);
  const { isAttended = false, ...options } = given;
  const isPassed = createNameMatcher(options.pass ?? [], options.ignoreCase ?? environmentIgnoresCase());
  const sanitized = Object.entries(sanitizeEnvironment(env, options)).filter(
    ([name]) => isPassed(name) || !isPlainSecretName(name),
  );
  if (isAttended) return Object.fromEntries(sanitized);
  const disarmed = Object.entries(UNATTENDED).filter(
    ([name]) => !(isPassed(name) && Object.hasOwn(env, name)),
  );
  return Object.fromEntries([...sanitized, ...disarmed]);
}

const RULES: typeof ENVIRONMENT_OPTIONS & OptionRules<{ isAttended: boolean }> = {
  ...ENVIRONMENT_OPTIONS,
  isAttended: option(false, isBoolean, 'true or false'),
};

/**
 * Switches that keep programs from waiting for a person. Without a person, none of them changes what a
 * program does.
 */
const UNATTENDED = {
  TERM: 'dumb',
  PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  BAT_PAGER: 'cat',
  PSQL_PAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  AWS_PAGER: '',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  // Accepts the text unchanged: `git rebase --continue` continues, and a commit without a message is refused.
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  EDITOR: 'false',
  VISUAL: 'false',
  GH_PROMPT_DISABLED: '1',
  PIP_NO_INPUT: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  NO_UPDATE_NOTIFIER: '1',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  // The default of npx if it cannot ask a person.
  NPM_CONFIG_YES: 'true',
  DEBIAN_FRONTEND: 'noninteractive',
  APT_LISTCHANGES_FRONTEND: 'none',
  HOMEBREW_NO_AUTO_UPDATE: '1',
  COMPOSER_NO_INTERACTION: '1',
  TF_INPUT: '0',
} as const;
