// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of shells and templates are what is tested.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { redact } from './redact.js';

// Written in parts, so that no scanner mistakes this file for a leak. All values are invented.
const join = (...parts: string[]) => parts.join('');
const MIXED = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5';
const HEX = '0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978';
const JWT = join(
  'eyJhbGciOiJIUzI1NiJ9',
  '.eyJzdWIiOiIxMjM0NTY3ODkwIn0',
  '.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
);
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7';

describe('redact, what looks like a secret', () => {
  it.each([
    ['Anthropic', join('sk-', 'ant-', 'api03-', MIXED, '_', MIXED, '-AA')],
    ['OpenAI', join('sk-', MIXED, MIXED)],
    ['OpenAI project', join('sk-', 'proj-', MIXED, '_', MIXED)],
    ['OpenRouter', join('sk-', 'or-v1-', HEX)],
    ['GitHub personal', join('gh', 'p_', MIXED)],
    ['GitHub OAuth', join('gh', 'o_', MIXED)],
    ['GitHub server', join('gh', 's_', MIXED)],
    ['GitHub fine-grained', join('github', '_pat_', MIXED, '_', MIXED)],
    ['GitLab', join('gl', 'pat-', MIXED.slice(0, 20))],
    ['AWS key id', join('AK', 'IA', 'QYLPMN5HFIQR7XYA')],
    ['AWS session key id', join('AS', 'IA', 'QYLPMN5HFIQR7XYA')],
    ['Slack bot', join('xo', 'xb-', '123456789012-', MIXED)],
    ['Slack user', join('xo', 'xp-', '123456789012-', MIXED)],
    ['Google', join('AI', 'za', MIXED.slice(0, 35))],
    ['Stripe live', join('sk', '_live_', MIXED.slice(0, 24))],
    ['Stripe restricted test', join('rk', '_test_', MIXED.slice(0, 24))],
    ['npm', join('np', 'm_', MIXED)],
    ['PyPI', join('py', 'pi-', MIXED, MIXED)],
    ['Hugging Face', join('h', 'f_', MIXED)],
    ['SendGrid', join('S', 'G.', MIXED.slice(0, 22), '.', MIXED)],
    ['Telegram', join('123456789', ':AA', MIXED)],
    ['Vault', join('hv', 's.', MIXED)],
    ['DigitalOcean', join('do', 'p_v1_', HEX)],
    ['JSON web token', JWT],
  ])('hides a key of %s in any place', (_name, secret) => {
    expect(redact(secret)).toBe('[REDACTED]');
    expect(redact(`see "${secret}", and\n(${secret})`)).toBe('see "[REDACTED]", and\n([REDACTED])');
    expect(redact(`=${secret}`)).toBe('=[REDACTED]');
    const before = 'one of many words, '.repeat(20);
    expect(redact(`${before}${secret}`)).toBe(`${before}[REDACTED]`);
  });

  it('hides the same in the first texts of a process, which are few, as in later ones', async () => {
    const texts = [
      join('AK', 'IA', 'QYLPMN5HFIQR7XYA'),
      join('GR1', '348941', MIXED),
      `AUTHORIZATION: BEARER ${MIXED}`,
      `DB_PASSWORD=${MIXED}`,
      `mysql -uroot -p${MIXED}`,
      `-----BEGIN RSA PRIVATE KEY-----\n${BODY}\n-----END RSA PRIVATE KEY-----`,
      'Read first.txt',
    ];
    vi.resetModules();
    const inNewProcess = await import('./redact.js');
    const first = texts.map((text) => inNewProcess.redact(text));
    inNewProcess.redact('x'.repeat(100_000));
    expect(first).toEqual(texts.map((text) => inNewProcess.redact(text)));
    expect(first.map((text) => text.includes('[REDACTED]'))).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it('hides the values that a list has now, although it was used with others before', () => {
    const values = ['first-of-all', 'second-of-all'];
    const text = 'first-of-all second-of-all third-of-all';
    expect(redact(text, { values })).toBe('[REDACTED] [REDACTED] third-of-all');
    values[1] = 'third-of-all';
    expect(redact(text, { values })).toBe('[REDACTED] second-of-all [REDACTED]');
    values.push('second-of-all');
    expect(redact(text, { values })).toBe('[REDACTED] [REDACTED] [REDACTED]');
    values.length = 0;
    expect(redact(text, { values })).toBe(text);
  });

  it('hides the path of a webhook and keeps its host', () => {
    const hook = join('https://hooks.', 'slack.com/services/', 'T0000/B0000/', MIXED);
    expect(redact(hook)).toBe('https://hooks.slack.com/services/[REDACTED]');
  });

  it.each([
    ['of PEM', '\n', 'RSA PRIVATE KEY'],
    ['without a kind', '\n', 'PRIVATE KEY'],
    ['of OpenSSH', '\n', 'OPENSSH PRIVATE KEY'],
    ['with CRLF', '\r\n', 'EC PRIVATE KEY'],
    ['in JSON', '\\n', 'PRIVATE KEY'],
    ['indented', '\n    ', 'ENCRYPTED PRIVATE KEY'],
    ['of PGP', '\n', 'PGP PRIVATE KEY BLOCK'],
  ])('hides the body of a private key %s', (_what, lineEnd, kind) => {
    const block = [`-----BEGIN ${kind}-----`, BODY, BODY, 'abc=', `-----END ${kind}-----`].join(lineEnd);
    expect(redact(`x ${block} y`)).toBe(`x -----BEGIN ${kind}-----[REDACTED]-----END ${kind}----- y`);
  });

  it('hides a private key whose end is missing, and nothing after it', () => {
    const head = '-----BEGIN RSA PRIVATE KEY-----';
    expect(redact(`${head}\n${BODY}\n${BODY}\nabc\n\nand so on`)).toBe(`${head}[REDACTED]\n\nand so on`);
    expect(redact(`${head}\n${BODY}\n${head}\n${BODY}`)).toBe(`${head}[REDACTED]\n${head}[REDACTED]`);
    expect(redact(`${head}\\n${BODY}\\nab=`)).toBe(`${head}[REDACTED]`);
    expect(redact(`${head}\r\n\t${BODY}\r\n\r\n ${BODY}\n-----BEGIN`)).toBe(`${head}[REDACTED]\n-----BEGIN`);
    expect(redact(`${head}\nshort lines\n`)).toBe(`${head}\nshort lines\n`);
    expect(redact(`${head}\n${BODY}\n-----END CERTIFICATE-----`)).toBe(
      `${head}[REDACTED]\n-----END CERTIFICATE-----`,
    );
    expect(redact(head)).toBe(head);
    const end = '-----END RSA PRIVATE KEY-----';
    expect(redact(`${head}anything at all${end}`)).toBe(`${head}[REDACTED]${end}`);
    expect(redact(`${head}${end}`)).toBe(`${head}${end}`);
  });
});

describe('redact, what stands where a secret stands', () => {
  it.each([
    [`Authorization: Bearer ${MIXED}\n`, 'Authorization: Bearer [REDACTED]\n'],
    [`authorization: token ${MIXED}`, 'authorization: token [REDACTED]'],
    ['Authorization: Basic dXNlcjpwYXNz\n', 'Authorization: Basic [REDACTED]\n'],
    [`Proxy-Authorization: Basic dXNlcjpodW50ZXIy`, 'Proxy-Authorization: Basic [REDACTED]'],
    [`{"Authorization": "Bearer ${MIXED}"}`, '{"Authorization": "Bearer [REDACTED]"}'],
    [`curl -H 'Authorization: ${MIXED}'`, "curl -H 'Authorization: [REDACTED]'"],
    [`sent bearer ${MIXED}`, 'sent bearer [REDACTED]'],
    ['x-api-key: abcd1234efgh', 'x-api-key: [REDACTED]'],
    ['postgres://app:hunter2xyz@db.internal:5432/x', 'postgres://app:[REDACTED]@db.internal:5432/x'],
    ['https://bob:p%40ss%3Aw0rd@example.com/', 'https://bob:[REDACTED]@example.com/'],
    ['https://bob:p@ss@example.com/', 'https://bob:[REDACTED]@example.com/'],
    ['redis://:hunter2@cache/0', 'redis://:[REDACTED]@cache/0'],
    [`//registry.example.org/:_authToken=${MIXED}\n`, '//registry.example.org/:_authToken=[REDACTED]\n'],
    [
      'aws_secret_access_key = 4aCKy6iFRtZwWEkEkE+5Hr+e51Bdk6iqtZVh9plM\n',
      'aws_secret_access_key = [REDACTED]\n',
    ],
    [
      'aws_secret_access_key = /aCKy6iFRtZwWEkEkE+5Hr/e51Bdk6iqtZVh9plM\n',
      'aws_secret_access_key = [REDACTED]\n',
    ],
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENG aws s3 ls', 'AWS_SECRET_ACCESS_KEY=[REDACTED] aws s3 ls'],
    ['{"password":"hunter2-hunter2"}', '{"password":"[REDACTED]"}'],
    ['{"password":"a\\"b c"}', '{"password":"[REDACTED]"}'],
    ['{\\"password\\":\\"hunter2\\"}', '{\\"password\\":\\"[REDACTED]\\"}'],
    ['client_secret: hunter2-hunter2\n', 'client_secret: [REDACTED]\n'],
    ['  password: hunter2xyz # rotate', '  password: [REDACTED] # rotate'],
    ["export API_TOKEN='abc12345xyz'", "export API_TOKEN='[REDACTED]'"],
    ['DB_PASSWORD=swordfish', 'DB_PASSWORD=[REDACTED]'],
    ['SMTP_PASS=hunter2', 'SMTP_PASS=[REDACTED]'],
    ['MYSQL_PWD=hunter2 mysql', 'MYSQL_PWD=[REDACTED] mysql'],
    ['Server=x;Password=swordfish;', 'Server=x;Password=[REDACTED];'],
    ['AccountKey=abc123def456==;', 'AccountKey=[REDACTED];'],
    ['GET /?api_key=abc12345&x=1', 'GET /?api_key=[REDACTED]&x=1'],
    ['<password>hunter2</password>', '<password>[REDACTED]</password>'],
    ["'password' => 'hunter2'", "'password' => '[REDACTED]'"],
    ['login --password hunter2 --verbose', 'login --password [REDACTED] --verbose'],
    ['login --password=swordfish', 'login --password=[REDACTED]'],
    ['tool --api-key abc123', 'tool --api-key [REDACTED]'],
    ['curl -u admin:s3cretpass https://x', 'curl -u admin:[REDACTED] https://x'],
    ['curl -uadmin:s3cretpass https://x', 'curl -uadmin:[REDACTED] https://x'],
    ['curl --user "admin:s3cretpass" https://x', 'curl --user "admin:[REDACTED]" https://x'],
    ['mysql -u root -phunter2 db', 'mysql -u root -p[REDACTED] db'],
    ['sshpass -p hunter2 ssh host', 'sshpass -p [REDACTED] ssh host'],
    [
      `https://api.telegram.org/bot${join('123456789', ':AA', MIXED)}/getMe`,
      'https://api.telegram.org/bot[REDACTED]/getMe',
    ],
    [
      'https://api.telegram.org/bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/x',
      'https://api.telegram.org/bot[REDACTED]/x',
    ],
    [`https://${MIXED}@git.example.com/x`, 'https://[REDACTED]@git.example.com/x'],
    ['API_TOKEN="correct horse battery staple"', 'API_TOKEN="[REDACTED]"'],
    ["client_secret = 'three words here'", "client_secret = '[REDACTED]'"],
    ['{"secret": "blue 42 horse"}', '{"secret": "[REDACTED]"}'],
    ['TOKEN=abc12', 'TOKEN=[REDACTED]'],
    ['export MY_SECRET=xyz', 'export MY_SECRET=[REDACTED]'],
    ["API_KEY='k1'; SESSION_TOKEN='abc'", "API_KEY='k1'; SESSION_TOKEN='[REDACTED]'"],
    ['JWT=abcd CREDS=me:you', 'JWT=[REDACTED] CREDS=[REDACTED]'],
    ['Cookie: theme=dark; session=hunter2abcdef\n', 'Cookie: [REDACTED]\n'],
    ['< set-cookie: sid=hunter2abcdef; Path=/\r\n', '< set-cookie: [REDACTED]\r\n'],
    ["curl -H 'Cookie: sid=hunter2abcdef' x", "curl -H 'Cookie: [REDACTED]' x"],
    [
      `https://x.blob.core.windows.net/c?sv=1&sig=${MIXED}%3D&se=2`,
      'https://x.blob.core.windows.net/c?sv=1&sig=[REDACTED]&se=2',
    ],
    ['machine h login me password hunter2', 'machine h login me password [REDACTED]'],
    ['docker login -u me -p hunter2 r.example', 'docker login -u me -p [REDACTED] r.example'],
  ])('makes of %j', (text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });
});

describe('redact, near misses', () => {
  it.each([
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '550e8400-e29b-41d4-a716-446655440000',
    'sk-learn sk-table sk-circle-fade sk-loading-spinner-container-wide',
    'AIzawa AKIA ghp_short npm_config_registry npm_lifecycle_event hf_model',
    'xoxo-gossip-girl-forever',
    'eyJhIjoxfQ==',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJ me@host',
    '-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----',
    '-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq\n-----END CERTIFICATE-----',
    '-----BEGIN PRIVATE KEY----- is the header line of a PEM file',
    'https://user@example.com/path',
    'http://localhost:8080/path@2x.png https://example.com:8080/@user',
    'https://${USER}:${PASS}@host/ https://user:$PASS@host/ https://user:<password>@host/',
    'git@github.com:org/repo.git',
    'Authorization: Bearer <token>',
    'Authorization: Bearer $TOKEN',
    'Authorization: required',
    'Bearer authentication is needed; Basic usage follows',
    'API_KEY=YOUR_API_KEY',
    'api_key: your-api-key-here',
    'API_KEY=$API_KEY TOKEN=${TOKEN} SECRET=$(cat file) api_key="<your key>" token={{ token }}',
    'token: ${{ secrets.GITHUB_TOKEN }}',
    'password: ********',
    'PASSWORD=changeme',
    'The password must have 12 characters.',
    'password: must be at least 12 characters',
    'password: required\npassword: string;\ntoken: Uint8Array',
    '"password": "Password", "token": "keyword", "password": { "type": "string" }',
    '"password": "Please enter your password"',
    'const password = process.env.PASSWORD; secret = os.environ["SECRET"]; token := getToken()',
    'self.token = token; connect(password=db_pass); if (password === other) secret::Key::new()',
    'max_tokens: 4096, "token_count": 123, token_type: bearer, next_page_token: abc123def456',
    '"eos_token": "<|endoftext|>", cancellationToken: CancellationToken',
    'secretName: my-tls-secret1, password_file: /run/secrets/db1',
    'PWD=/root/work1 OLDPWD=/home/a1 pwd: /home/x1',
    'credentials: "same-origin"',
    'Enter password:\nPassword for user:',
    'The --password option is required; use --token to authenticate; --token string   the token',
    'docker run -u 1000:1000 image; date -u +%H:%M; git push -u origin main:main',
    'mysql -p mydb; mysql --port=3306 -port',
    'passed: 12, bypass: true, compass=north1, keyboard: qwerty123',
    'unexpected token: "some words of it"',
    '{"token": "several plain words"} and token = "enter your token here"',
    'chatbot 12345:6789 robot12345:aaaaaaaaaaaaaaaaaaaaaaaa',
    'TOKEN=$1 SECRET=${1:-x} NEXT_TOKEN=abc TOKEN=config.token',
    'Set-Cookie: name=value; Cookie: yes; cookie: theme=dark; lang=en',
    'login form, password field; login and password are required',
    'primary_key=user_id1 public_key: abc123456789 sort_key: user1234',
  ])('keeps %j', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('redact, given values', () => {
  it('hides every exact value, the longest first', () => {
    const values = ['battery-staple', 'correct-horse-battery-staple-42'];
    expect(redact('a correct-horse-battery-staple-42 b battery-staple c', { values })).toBe(
      'a [REDACTED] b [REDACTED] c',
    );
  });

  it('hides values that overlap as one', () => {
    expect(redact('xabcdef123ghijkly', { values: ['abcdef123', '123ghijkl'] })).toBe('x[REDACTED]y');
  });

  it('hides each line of a value of several lines, however they are printed', () => {
    const values = [`-----BEGIN PRIVATE KEY-----\n${BODY}\r\n${MIXED}\n-----END PRIVATE KEY-----\n`];
    expect(redact(`1: ${MIXED}\n  ${BODY}`, { values, rules: false })).toBe('1: [REDACTED]\n  [REDACTED]');
    expect(redact('-----BEGIN PRIVATE KEY-----', { values })).toBe('-----BEGIN PRIVATE KEY-----');
  });

  it('ignores values that are short or common', () => {
    const values = [
      '',
      'abc',
      'true',
      '12345',
      'password',
      'production',
      '        ',
      '--------',
      '[REDACTED]',
      'REDACTED',
    ];
    const text = 'abc true 12345 password production         -------- [REDACTED]';
    expect(redact(text, { values })).toBe(text);
  });

  it('finds values of other scripts, and takes them literally', () => {
    expect(redact('geheim: пароль-日本 (.*){9}$', { values: ['пароль-日本', '(.*){9}$'] })).toBe(
      'geheim: [REDACTED] [REDACTED]',
    );
  });

  it('hides values alone where rules are left out', () => {
    const text = 'password=hunter2-hunter2 my-own-value';
    expect(redact(text, { values: ['my-own-value'], rules: false })).toBe(
      'password=hunter2-hunter2 [REDACTED]',
    );
  });

  it('looks for what the array holds now', () => {
    const values = ['first-secret'];
    expect(redact('second-secret', { values })).toBe('second-secret');
    values[0] = 'second-secret';
    expect(redact('second-secret', { values })).toBe('[REDACTED]');
  });
});

const FRAGMENTS = [
  join('sk-', 'ant-', MIXED),
  join('gh', 'p_', MIXED),
  join('AK', 'IA', 'QYLPMN5HFIQR7XYA'),
  JWT,
  MIXED,
  HEX,
  BODY,
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '-----',
  'Authorization: ',
  'Bearer ',
  'Basic ',
  'bearer ',
  'password',
  'PASSWORD',
  '_token',
  'api_key',
  '--password ',
  '--',
  '-u ',
  '-p',
  'mysql ',
  'curl ',
  'sshpass ',
  'pwd',
  '=',
  ':',
  ': ',
  ' = ',
  '"',
  "'",
  '\\"',
  '\\',
  '\n',
  ' ',
  ';',
  '&',
  '[',
  ']',
  '(',
  '<',
  '>',
  '$',
  '@',
  '://',
  '/',
  '.',
  '-',
  'hunter2',
  'a',
  '7',
  'your-key',
  'secret-value-1',
  '[REDACTED]',
  '[REDA',
  'CTED]',
  'xo',
  'xb-',
  '123456789',
  ':AA',
];

describe('redact, for any text', () => {
  it('changes nothing the second time', () => {
    const values = ['secret-value-1', 'hunter2[', ']hunter2', 'value-1"'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 16 }), (parts) => {
        const once = redact(parts.join(''), { values });
        expect(redact(once, { values })).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    '-----BEGIN PRIVATE KEY-----',
    `-----BEGIN PRIVATE KEY-----\n${BODY}\n`,
    'eyJ',
    'eyJaaaaaaaaaa.',
    '.eyJaaaaaaaaaa',
    'token=',
    'token:',
    'token="',
    'password=\\"',
    'password="a ',
    'api_key=your-',
    'token=a.',
    'secret_',
    '--password a ',
    'bearer ',
    'authorization: ',
    '://',
    '://a:',
    '://a:b',
    'a:b@',
    '-u a:',
    'mysql -',
    'mysql ',
    'curl -u',
    'docker login ',
    'sk-',
    'xoxb-',
    'SG.aaaaaaaaaaaaaaaa.',
    'AKIA',
    ' ',
    'a',
    '\\n',
    '`token`:`',
  ])('needs time linear in the length for 200,000 characters of %j', (piece) => {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    const started = process.cpuUsage().user;
    redact(text);
    expect((process.cpuUsage().user - started) / 1e6).toBeLessThan(4);
  });
});
