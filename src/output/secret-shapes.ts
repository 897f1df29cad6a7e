/**
 * A kind of secret that is known by its looks or its surroundings. `words` are what must stand in a text that holds one
 * (lower case): the pattern is tried only then. What the group `before` matches is kept, all else of the match is
 * hidden.
 *
 * Patterns are linear: what repeats without bound cannot be begun anew inside of the repeat.
 */
export interface SecretShape {
  readonly name: string;
  readonly words: readonly string[];
  readonly pattern: RegExp;
  /** Looks at what would be hidden; left out, everything is. */
  readonly isSecret?: (hidden: string) => boolean;
}

/** A key begins where no letter or digit stands before it. */
const START = '(?<![A-Za-z0-9])';
const END = '(?![A-Za-z0-9])';

export const SECRET_SHAPES: readonly SecretShape[] = [
  key('anthropic-key', ['sk-ant-'], 'sk-ant-[A-Za-z0-9_-]{16,}'),
  key('openai-project-key', ['sk-'], 'sk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{16,}'),
  key('openrouter-key', ['sk-or-'], 'sk-or-[A-Za-z0-9_-]{16,}'),
  key('openai-key', ['sk-'], 'sk-(?=[A-Za-z]{0,64}[0-9])[A-Za-z0-9]{20,}'),
  key('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{30,}'),
  key('github-fine-grained-token', ['github_pat_'], 'github_pat_[A-Za-z0-9_]{30,}'),
  key('gitlab-token', ['glpat-'], 'glpat-[A-Za-z0-9_.=-]{16,}'),
  key('gitlab-other-token', ['gl'], 'gl(?:ptt|dt|rt|cbt|ft|soat|agent|imt|oas|ffct)-[A-Za-z0-9_.=-]{16,}'),
  key('gitlab-runner-token', ['gr1348941'], 'GR1348941[A-Za-z0-9_-]{16,}'),
  key('aws-access-key-id', ['akia', 'asia', 'abia', 'acca'], `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`),
  key('slack-token', ['xox'], 'xox[abceoprs]-(?=[A-Za-z-]{0,64}[0-9])[A-Za-z0-9-]{10,}'),
  key('slack-app-token', ['xapp-'], 'xapp-[A-Za-z0-9-]{20,}'),
  shape(
    'slack-webhook',
    ['hooks.slack.com'],
    /(?<before>hooks\.slack\.com\/[a-z]{1,20}\/)[A-Za-z0-9/_-]{16,}/g,
  ),
  shape('discord-webhook', ['/webhooks/'], /(?<before>\/api\/webhooks\/[0-9]{5,30}\/)[A-Za-z0-9_-]{30,}/g),
  key('google-api-key', ['aiza'], 'AIza[A-Za-z0-9_-]{35,}'),
  key('google-oauth-token', ['ya29.'], 'ya29\\.[A-Za-z0-9_.-]{20,}'),
  key('google-client-secret', ['gocspx-'], 'GOCSPX-[A-Za-z0-9_-]{20,}'),
  key('stripe-key', ['_live_', '_test_', '_prod_'], '(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}'),
  key('stripe-webhook-secret', ['whsec_'], 'whsec_[A-Za-z0-9+/=]{24,}'),
  key('npm-token', ['npm_'], 'npm_[A-Za-z0-9]{30,}'),
  key('pypi-token', ['pypi-'], 'pypi-[A-Za-z0-9_-]{40,}'),
  key('rubygems-key', ['rubygems_'], 'rubygems_[a-f0-9]{40,}'),
  key('docker-token', ['dckr_'], 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}'),
  key('huggingface-token', ['hf_'], 'hf_[A-Za-z0-9]{30,}'),
  key('replicate-token', ['r8_'], 'r8_[A-Za-z0-9]{30,}'),
  key('groq-key', ['gsk_'], 'gsk_[A-Za-z0-9]{40,}'),
  key('xai-key', ['xai-'], 'xai-[A-Za-z0-9]{40,}'),
  key('perplexity-key', ['pplx-'], 'pplx-[A-Za-z0-9]{40,}'),
  key('sendgrid-key', ['sg.'], 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,}'),
  key('twilio-key', ['sk'], `SK[0-9a-f]{32}${END}`),
  key('mailgun-key', ['key-'], `key-[0-9a-f]{32}${END}`),
  key('shopify-token', ['shp'], 'shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32,}'),
  key('digitalocean-token', ['_v1_'], 'do[opr]_v1_[a-f0-9]{40,}'),
  key('databricks-token', ['dapi'], 'dapi[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])'),
  key('vault-token', ['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[A-Za-z0-9_-]{20,}'),
  key('grafana-token', ['glsa_', 'glc_'], 'gl(?:sa|c)_[A-Za-z0-9_+/=-]{30,}'),
  key('sentry-token', ['sntry'], 'sntry[su]_[A-Za-z0-9_+/=-]{30,}'),
  key('linear-key', ['lin_api_'], 'lin_api_[A-Za-z0-9]{30,}'),
  key('notion-token', ['ntn_'], 'ntn_[A-Za-z0-9]{40,}'),
  key('figma-token', ['figd_'], 'figd_[A-Za-z0-9_-]{30,}'),
  key('supabase-token', ['sbp_'], 'sbp_[a-f0-9]{40,}'),
  key('atlassian-token', ['atatt3'], 'ATATT3[A-Za-z0-9_=-]{40,}'),
  key('postman-key', ['pmak-'], 'PMAK-[A-Za-z0-9-]{40,}'),
  key('tailscale-key', ['tskey-'], 'tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}'),
  key('age-secret-key', ['age-secret-key-'], 'AGE-SECRET-KEY-1[0-9A-Z]{50,}'),
  key('telegram-bot-token', [':aa'], '[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}'),
  key('square-token', ['sq0'], 'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}'),
  shape(
    'json-web-token',
    ['eyj'],
    /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,}|(?:[A-Za-z0-9_-]*\.){3}[A-Za-z0-9_-]{8,})/g,
  ),
];

function key(name: string, words: readonly string[], source: string): SecretShape {
  return shape(name, words, new RegExp(START + source, 'g'));
}

function shape(name: string, words: readonly string[], pattern: RegExp): SecretShape {
  return { name, words, pattern };
}
