import { expect, it } from 'vitest';
import { commandEnvironment } from './command-environment.js';
import { runCommand } from './run-command.js';
import { removedValues } from './sanitize-environment.js';

it('commandEnvironment() removes secrets, and disarms pagers, prompts and editors', () => {
  const env = commandEnvironment({ HOME: '/h', A_TOKEN: 'x', PAGER: 'less', TERM: 'xterm', EDITOR: 'vi' });
  expect(env).toMatchObject({
    HOME: '/h',
    PAGER: 'cat',
    GIT_PAGER: 'cat',
    TERM: 'dumb',
    GIT_TERMINAL_PROMPT: '0',
  });
  expect(env).not.toHaveProperty('A_TOKEN');
  expect(env.EDITOR).not.toBe('vi');
});

it.each(
  `TOKEN SECRET PASSWORD PASS KEY AUTH JWT CREDS token Secret api_token db_password my_key Github_Token apiToken dbPassword
  service.token npm-auth user_creds SECRET1 TOKEN2 PASSWORD_2 dbPassword3 MNEMONIC`.split(/\s+/),
)('commandEnvironment() removes %s, which names a secret', (name) => {
  const given = { [name]: 'a-plain-value' };
  expect(commandEnvironment(given)).not.toHaveProperty([name]);
  expect(commandEnvironment(given, { pass: [name] })).toHaveProperty([name], 'a-plain-value');
  expect(removedValues(given, commandEnvironment(given))).toEqual(['a-plain-value']);
});

it.each(
  'MONKEY KEYMAP TOKENIZERS_PARALLELISM COMPASS AUTHOR PASSTHROUGH KEYBOARD_LAYOUT SSH_KEYSCAN'.split(' '),
)('commandEnvironment() keeps %s, which only resembles such a name', (name) =>
  expect(commandEnvironment({ [name]: 'x' })).toHaveProperty([name], 'x'),
);

it('commandEnvironment() passes a named exception on, and disarms it if it is not set', () => {
  const pass = ['PAGER', 'GIT_PAGER'];
  expect(commandEnvironment({ PAGER: 'less' }, { pass })).toMatchObject({ PAGER: 'less', GIT_PAGER: 'cat' });
});

it('commandEnvironment() does not set CI', () => {
  expect(Object.keys(commandEnvironment({}))).not.toEqual(expect.arrayContaining(['CI']));
});

it('a git commit without a message ends by itself', async () => {
  const command = `cd "$(mktemp -d)" && trap 'rm -rf "$PWD"' EXIT && git init -q . &&
    git -c user.name=a -c user.email=b commit --allow-empty`;
  const outcome = await runCommand({
    shell: 'sh',
    command,
    cwd: '/tmp',
    env: commandEnvironment({ PATH: '/usr/local/bin:/usr/bin:/bin' }),
    signal: AbortSignal.timeout(10_000),
    keepBytes: 1000,
  });
  expect(outcome).toMatchObject({ aborted: false, exitCode: 1 });
});
