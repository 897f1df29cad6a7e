import { describe, expect, it } from 'vitest';
import { harmlessConfig, isHarmlessConfig } from './adopt-repository.js';

const remote = (url: string): string => `[remote "origin"]\n\turl = ${url}\n`;

describe('harmlessConfig()', () => {
  it.each([
    'https://example.org/a-b/c.git',
    'ssh://git@example.org:22/x-y.git',
    'git@example.org:team/-name-/x.git',
    '../other-repo',
    '/srv/git/a -b.git',
  ])('keeps the address of another repository: %s', (url) => {
    expect(isHarmlessConfig(remote(url))).toBe(true);
    expect(harmlessConfig(remote(url))).toContain(url);
  });

  it.each([
    'ssh://-oProxyCommand=evil/x',
    'ssh://user@-oProxyCommand=evil/x',
    'ssh://host:-x/y',
    '-oProxyCommand=evil:x',
    'git@-oProxyCommand=evil:x',
    'host:-oProxyCommand',
    'ext::sh -c evil',
    'https://x/ext::y',
  ])('drops an address that looks like an option, or would run a program: %s', (url) => {
    expect(isHarmlessConfig(remote(url))).toBe(false);
    expect(harmlessConfig(remote(url))).toBe('');
  });
});

describe('isHarmlessConfig()', () => {
  it.each([
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n',
    '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
    '',
  ])('accepts what git init and git clone write: %j', (text) => {
    expect(isHarmlessConfig(text)).toBe(true);
  });

  it.each([
    '[core]\n\tfsmonitor = evil\n',
    '[core] bare = false\n\tfsmonitor = evil\n',
    '[core]\n\tbare = false \\\n\tfsmonitor = evil\n',
    '[core]\n\tbare = "fal\\\nse"\n',
    '[include]\n\tpath = evil\n',
    '[core]\n\tbare = false ; x\n',
    '[core]\n\tbare\n',
    '[core]\r\n\tbare = false\r\n',
  ])('refuses a text that other readers may understand differently: %j', (text) => {
    expect(isHarmlessConfig(text)).toBe(false);
  });
});
