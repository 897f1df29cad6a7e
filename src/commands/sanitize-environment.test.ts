import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sanitizeEnvironment } from './sanitize-environment.js';

function isKept(name: string, options = {}): boolean {
  return Object.hasOwn(sanitizeEnvironment({ [name]: '/value' }, { ignoreCase: false, ...options }), name);
}

function names(text: string): string[] {
  return text.trim().split(/\s+/);
}

describe('sanitizeEnvironment()', () => {
  it('accepts any environment, and refuses unknown options', () => {
    const env = Object.assign({ A: 'a' }, { B: undefined });
    expect(sanitizeEnvironment(env)).toEqual({ A: 'a' });
    const wrong = [[null], [{ A: 5 }], [{ A: 'a' }, { denylist: 'A' }], [{ A: 'a' }, { deny: [] }]];
    for (const given of wrong) {
      const call = (): unknown => Reflect.apply(sanitizeEnvironment, undefined, given);
      expect(call).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    }
  });

  it.each(
    names(
      `MY_KEY NPM_TOKEN STRIPE_SECRET DB_PASSWORD AWS_REGION AWS_ACCESS_KEY_ID ANTHROPIC_API_KEY OPENAI_ORG _KEY`,
    ),
  )('removes %s, which the configuration names', (name) => expect(isKept(name)).toBe(false));

  it.each(names('KEY TOKEN SECRET PASSWORD AWSREGION XAWS_REGION MY_KEYS_FILE aws_region my_token'))(
    'keeps %s, which resembles a configured name',
    (name) => expect(isKept(name)).toBe(true),
  );

  it.each(
    names(`Api_Key npm_config__authToken CLIENT_SECRET_BASE64 JWT_SIGNING_KEY_ID PRIVATE_KEY_PASSPHRASE PGPASSWORD
      MYSQL_PWD SMTP_PASS GITHUB_PAT NPM_AUTH GOOGLE_APPLICATION_CREDENTIALS google_application_credentials
      DATABASE_URL MONGODB_URI REDIS_URL SENTRY_DSN AZURE_STORAGE_CONNECTION_STRING SLACK_WEBHOOK_URL`),
  )('removes %s, a secret', (name) => expect(isKept(name)).toBe(false));

  it.each(
    names(`KUBECONFIG NETRC DOCKER_CONFIG PGPASSFILE GNUPGHOME XAUTHORITY SSH_AUTH_SOCK GPG_AGENT_INFO DOCKER_HOST
      DBUS_SESSION_BUS_ADDRESS TMUX VSCODE_IPC_HOOK_CLI SSLKEYLOGFILE`),
  )('removes %s, which leads to a secret', (name) => expect(isKept(name)).toBe(false));

  it.each(
    names(`LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH BASH_ENV ENV PROMPT_COMMAND PS4 IFS SHELLOPTS
      BASH_FUNC_ls%% NODE_OPTIONS NODE_PATH NODE_CHANNEL_FD PYTHONPATH PYTHONSTARTUP RUBYOPT RUBYLIB PERL5OPT PERL5LIB
      JAVA_TOOL_OPTIONS _JAVA_OPTIONS GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_GLOBAL GIT_ASKPASS
      GIT_EXTERNAL_DIFF GIT_DIR SSH_ASKPASS PAGER GIT_PAGER MANPAGER LESSOPEN EDITOR VISUAL GIT_EDITOR BROWSER
      RUSTC_WRAPPER MAKEFLAGS TAR_OPTIONS GOFLAGS ld_preload`),
  )('removes %s, which runs code', (name) => expect(isKept(name)).toBe(false));

  it.each(
    names(`PATH HOME USER LOGNAME SHELL LANG LC_ALL TZ TERM COLORTERM NO_COLOR FORCE_COLOR CI TMPDIR PWD OLDPWD LINES
      COLUMNS HOSTNAME EDITOR_THEME TOKENIZERS_PARALLELISM MAX_TOKENS KEYMAP KEYBOARD MONKEY PASSTHROUGH COMPASS AUTHOR
      NODE_ENV VIRTUAL_ENV CONDA_PREFIX npm_config_registry JAVA_HOME GOPATH CARGO_HOME CFLAGS LDFLAGS SSL_CERT_FILE
      NODE_EXTRA_CA_CERTS XDG_CONFIG_HOME GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL PYTHONUNBUFFERED PUBLIC_URL DISPLAY`),
  )('keeps %s, which programs need', (name) => expect(isKept(name)).toBe(true));

  it('adds the configured names to the built-in ones', () => {
    const options = { denylist: ['CORP_*', 'exact'] };
    expect(['CORP_A', 'exact', 'exactly', 'MY_TOKEN'].map((name) => isKept(name, options))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it('passes a named exception on, even if another rule removes it', () => {
    const env = { CORP_TOKEN: 'a', OTHER_TOKEN: 'b', HTTP_PROXY: 'http://u:p@proxy' };
    const pass = ['CORP_*', 'HTTP_PROXY'];
    expect(sanitizeEnvironment(env, { denylist: ['CORP_*'], pass })).toEqual({
      CORP_TOKEN: 'a',
      HTTP_PROXY: 'http://u:p@proxy',
    });
  });

  it('ignores case on Windows, and only there', () => {
    for (const name of ['my_token', 'Aws_Region', 'corp_x']) {
      expect(isKept(name, { denylist: ['CORP_*'], ignoreCase: true })).toBe(false);
      expect(isKept(name, { denylist: ['CORP_*'], ignoreCase: false })).toBe(true);
    }
  });

  it('treats everything in a pattern except stars as text', () => {
    expect(isKept('AXB', { denylist: ['A.B', '[', '(a+)+$'] })).toBe(true);
    expect(isKept('A.B', { denylist: ['A.B'] })).toBe(false);
  });

  it('removes names and values that no program can receive', () => {
    expect(sanitizeEnvironment({ '': 'x', 'A=B': 'x', 'C\0': 'x', D: 'x\0y', E: 'x' })).toEqual({ E: 'x' });
  });

  it('removes a shell function under any name', () => {
    expect(isKept('INNOCENT')).toBe(true);
    expect(sanitizeEnvironment({ INNOCENT: '() { :; }; echo broken' })).toEqual({});
  });

  it('removes relative entries from PATH', () => {
    const { PATH } = sanitizeEnvironment({ PATH: '.:/usr/bin::node_modules/.bin:/bin:' });
    expect(PATH).toBe('/usr/bin:/bin');
    const standard = '/usr/local/bin:/usr/bin:/bin';
    for (const only of ['.', '', ':', 'bin:../lib'])
      expect(sanitizeEnvironment({ PATH: only })).toEqual({ PATH: standard });
  });

  it.each([
    ['http://user:pass@proxy:3128', 'http://proxy:3128'],
    ['https://token@host/simple/', 'https://host/simple/'],
    ['x://a:b@c,y://d:e@f', 'x://c,y://f'],
    ['ssh://git@github.com/x.git', 'ssh://git@github.com/x.git'],
    ['https://host/a@b', 'https://host/a@b'],
    ['https://host/x?a=1&access_token=abc&b=2', 'https://host/x?a=1&access_token=&b=2'],
    ['jdbc:postgresql://db/x?user=me&password=secret', 'jdbc:postgresql://db/x?user=me&password='],
    ['https://host/?sort_key=a#token=b', 'https://host/?sort_key=a#token='],
    ['https://api.telegram.org/bot123456:ABC-DEF1234ghIkl-zyx57/getMe', 'https://api.telegram.org/bot/getMe'],
    ['key=value', 'key=value'],
  ])('removes a password from the address %s', (value, want) => {
    expect(sanitizeEnvironment({ HTTPS_PROXY: value })).toEqual({ HTTPS_PROXY: want });
  });

  it('removes passwords from addresses, also if names ignore case', () => {
    const env = { HTTPS_PROXY: 'http://user:pass@proxy:3128' };
    expect(sanitizeEnvironment(env, { ignoreCase: true })).toEqual({ HTTPS_PROXY: 'http://proxy:3128' });
  });

  it('never adds or renames a variable, and changes nothing the second time', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'PATH', 'constructor', 'A_KEY'));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (entries) => {
        const env = Object.fromEntries(entries);
        const once = sanitizeEnvironment(env);
        expect(Object.keys(env)).toEqual(expect.arrayContaining(Object.keys(once)));
        expect(sanitizeEnvironment(once)).toEqual(once);
      }),
    );
  });

  it('takes little time for a large and hostile environment', () => {
    const env = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`${'_KEY'.repeat(50)}${index}`, `${'://'.repeat(5000)}`]),
    );
    const before = performance.now();
    sanitizeEnvironment(env, { denylist: ['*a*a*a*b'] });
    expect(performance.now() - before).toBeLessThan(5000);
  });
});
