/**
 * A kind of secret with a known form or context. `words` must occur in a text with such a secret (in lower
 * case): only then is the pattern tried. The group `before` is kept, the rest of the match is hidden.
 *
 * Patterns are linear: an unbounded repeat cannot start again inside itself.
 */

export interface SecretShape {
  readonly name: string;
  readonly words: readonly string[];
  /** Built when needed: most programs need one or two of them. */
  readonly pattern: () => RegExp;
  /** Checks the text to hide. If absent: every match is hidden. */
  readonly isSecret?: (hidden: string) => boolean;
}

/** A key starts where no letter or digit precedes it. */
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
    () => /(?<before>hooks\.slack\.com\/[a-z]{1,20}\/)[A-Za-z0-9/_-]{16,}/g,
  ),
  shape(
    'discord-webhook',
    ['/webhooks/'],
    () => /(?<before>\/api\/webhooks\/[0-9]{5,30}\/)[A-Za-z0-9_-]{30,}/g,
  ),
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
  // In an address the word comes directly before the number.
  shape('bot-address', ['bot'], () => /(?<before>(?<![A-Za-z])bot)[0-9]{5,12}:[A-Za-z0-9_-]{20,}/gi),
  // A signed Azure address grants access by itself.
  shape('signed-address', ['sig='], () => /(?<before>[?&;]sig=)[A-Za-z0-9%+/=_-]{20,}/gi),
  key('square-token', ['sq0'], 'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}'),
  shape(
    'json-web-token',
    ['eyj'],
    () =>
      /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,}|(?:[A-Za-z0-9_-]*\.){3}[A-Za-z0-9_-]{8,})/g,
  ),
];

function key(name: string, words: readonly string[], source: string): SecretShape {
  return shape(name, words, () => new RegExp(START + source, 'g'));
}

function shape(name: string, words: readonly string[], pattern: () => RegExp): SecretShape {
  return { name, words, pattern };
}

/**
 * Secrets that are recognized by the text before them. No pattern reads across a `[`, so text after a marker
 * is not mistaken for the hidden value.
 */
export const SECRET_CONTEXTS: readonly SecretShape[] = [
  {
    // scheme://user:password@host; the password may contain an @, but no slash.
    name: 'url-password',
    words: ['://'],
    pattern: () => /(?<before>:\/\/[^\s:/?#@"'`<>\\]{0,256}:)[^\s/?#"'`<>\\]{1,1024}(?=@)/g,
    isSecret: (hidden) => !isPlaceholder(hidden) && !/^[%:$]/.test(hidden),
  },
  {
    // https://token@host
    name: 'url-token',
    words: ['://'],
    pattern: () => /(?<before>https?:\/\/)[^\s:/?#@"'`<>\\[\]]{16,256}(?=@)/gi,
    isSecret: looksRandom,
  },
  {
    name: 'authorization-header',
    words: ['authorization'],
    pattern: () =>
      /(?<before>authorization\\?["']?[ \t]{0,8}[:=][ \t]{0,8}\\?["']?(?:(?:bearer|basic|token|digest|apikey|negotiate|ntlm|aws4-hmac-sha256)[ \t]{1,8})?)[^\s"'`,;<>{}()$[\]\\]{6,}/gi,
    isSecret: (hidden) => isBasicCredential(hidden) || looksRandom(hidden),
  },
  {
    name: 'bearer-token',
    words: ['bearer'],
    pattern: () => /(?<before>(?<![A-Za-z0-9])bearer[ \t]{1,8})[A-Za-z0-9._~+/=-]{16,}/gi,
    isSecret: looksRandom,
  },
  {
    // All cookies: only the server knows which one is the session.
    name: 'cookie-header',
    words: ['cookie'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9-])(?:set-)?cookie\\?["']?[ \t]{0,8}:[ \t]{0,8}\\?["']?)[^\s=;,:"'`\\[\]]{1,64}=[^\r\n"'`\\[\]]{6,4096}/gi,
    isSecret: (hidden) => hidden.split(/[=;\s]+/).some(looksRandom),
  },
  {
    name: 'netrc-password',
    words: ['password'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9])login[ \t]{1,8}[^\s[]{1,256}\s{1,8}password[ \t]{1,8})[^\s[\]]{4,512}/g,
    isSecret: (hidden) => !isPlaceholder(hidden) && /\d/.test(hidden),
  },
  {
    // curl -u user:password; not docker's user:group in numbers, not date's +%H:%M.
    name: 'user-password-option',
    words: ['-u', '--user', '--proxy-user', '--creds'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9_-])(?:-[uU](?:[ \t]{1,8}|=)|--(?:user|proxy-user|creds)(?:[ \t]{1,8}|=))["']?[A-Za-z0-9][^\s:"'`\\/]{0,127}:)[^\s"'`\\/]{1}[^\s"'`]{0,512}/g,
    isSecret: (hidden) => !isPlaceholder(hidden) && !/^(?:[0-9]{1,6}$|[$<{[])/.test(hidden),
  },
  {
    name: 'attached-user-password-option',
    words: ['curl'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9])curl[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-u["']?[A-Za-z0-9][^\s:"'`\\/]{0,64}:)[^\s"'`\\/$<{[][^\s"'`]{0,512}/g,
  },
  {
    name: 'mysql-password-option',
    words: ['mysql', 'mariadb'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9])(?:mysql|mariadb)(?:dump|admin|import|show|check|-dump|-admin)?[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-p)(?!ort|rotocol|ipe|rint|refix)["']?[^\s"'$<{[][^\s"']{2,512}["']?/g,
  },
  {
    name: 'sshpass-option',
    words: ['sshpass'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9])sshpass[ \t]{1,8}-p[ \t]{0,8})["']?[^\s"'$<{[-][^\s"']{0,512}["']?/g,
  },
  {
    name: 'container-login-option',
    words: ['docker', 'podman'],
    pattern: () =>
      /(?<before>(?<![A-Za-z0-9])(?:docker|podman)[ \t]{1,8}login[ \t][^\r\n|;&[]{0,200}?(?<=[ \t])-p[ \t=]{1,8})["']?[^\s"'$<{[-][^\s"']{0,512}["']?/g,
  },
];

/** `user:password` in base64, as in HTTP. */
function isBasicCredential(text: string): boolean {
  return (
    /^[A-Za-z0-9+/]{6,}={0,2}$/.test(text) && Buffer.from(text, 'base64').toString('latin1').includes(':')
  );
}

/** Placeholders for secrets: whole values in lower case. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'null none nil undefined true false yes no on off empty unset default required optional missing invalid incorrect ' +
    'hidden masked redacted removed omitted example sample dummy placeholder changeme change-me change_me replaceme ' +
    'replace-me todo tbd string str text bool boolean number integer int float any unknown object array bytes char ' +
    'varchar void never optional[str] secretstr password passwd passphrase secret token key apikey api_key api-key ' +
    'username user value variable argument parameter option environment prompt interactively instead bearer basic ' +
    'include same-origin omit authentication authorization credentials protected forgotten expired wrong correct'
  ).split(' '),
);

const SYNTAX: readonly RegExp[] = [
  /^[$<{[]/, // $VAR, ${VAR}, $(command), <your-key>, {{ key }}, [redacted]
  /^%[A-Za-z_][A-Za-z0-9_]{0,64}%$/, // %VAR%
  /^%[-+0-9.]{0,8}[sdvqr]$/, // %s
  /^[*•.x_-]+$/i, // ********, ..., xxxx
  /^#\{/, // #{var}
  /^@[A-Za-z]/, // @file, @Value
  /^(?:process\.env|os\.environ|os\.getenv|import\.meta\.env|env|secrets|vars|config|settings|self|this|data|local|var|module)\b[.[]/i,
];

/** YOUR_API_KEY, your-token-here, my_secret, <...>, insert_key_here, ENTER_PASSWORD. */
const SPOKEN =
  /^(?:(?:your|my|the|some|a|an|new|old|insert|enter|replace|put|use|add|paste|example|sample|dummy|fake|test|super)[-_ ]?)+(?:[a-z]{0,16}[-_ ]?){0,3}(?:secret|password|passwd|pass|token|key|credentials?|value|here|this|me)(?:[-_ ]?(?:here|value|goes|id))*$/;

/** A longer value is not a placeholder. */
const LONGEST_PLACEHOLDER = 64;

/** True for a placeholder in place of a secret. */
export function isPlaceholder(value: string): boolean {
  if (SYNTAX.some((pattern) => pattern.test(value))) return true;
  if (value.length > LONGEST_PLACEHOLDER) return false;
  const lower = value.toLowerCase().replace(/[.,;:!?]+$/, '');
  return WORDS.has(lower) || SPOKEN.test(lower);
}

/**
 * True for text that does not look like words: at least 8 characters, letters and digits mixed, or letters
 * without order.
 */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || isPlaceholder(value)) return false;
  const beginning = value.slice(0, 256);
  if (/^v?\d+(?:\.\d+)+/.test(beginning) || /^\d{4}-\d\d-\d\d/.test(beginning)) return false;
  if (/^[a-z][a-z0-9+.-]{0,20}:\/\//i.test(beginning)) return false;
  if (/\d/.test(beginning) && /[A-Za-z]/.test(beginning)) return true;
  const capitals = beginning.match(/[A-Z]/g)?.length ?? 0;
  const smalls = beginning.match(/[a-z]/g)?.length ?? 0;
  return value.length >= 20 && capitals >= 5 && smalls >= 5 && !/[_.-]/.test(beginning);
}
