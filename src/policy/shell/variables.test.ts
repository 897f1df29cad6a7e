import { describe, expect, it } from 'vitest';
import { analyzeCommand } from './analyze-command.js';

const verdict = (command: string): string => analyzeCommand(command).verdict;

describe('PATH in front of a command', () => {
  it.each([
    'PATH=. git status',
    'PATH=.:$PATH git status',
    'PATH= git status',
    'PATH=/usr/bin: git status',
    'PATH=tools:/usr/bin git status',
    'PATH=/usr/../tmp git status',
    'PATH=$HOME/project:$PATH git status',
    'PATH=~/project git status',
    'PATH=/tmp git status',
    'PATH=$(pwd):$PATH git status',
    'PATH=$UNKNOWN git status',
    'export PATH=.; git status',
    'PATH+=:. ; git status',
    'env PATH=. git status',
    'env -i PATH=. git status',
    'sudo PATH=. git status',
    'declare -x PATH=.; git status',
  ])('is asked about where it leads to programs of another folder: %s', (command) => {
    expect(verdict(command)).toBe('ask');
  });

  it.each([
    'PATH=/usr/bin:/bin git status',
    'export PATH=$PATH:/opt/bin',
    'env -i PATH=/bin ls',
    'echo $PATH',
  ])('is nothing to ask about where it stays with the system: %s', (command) => {
    expect(verdict(command)).toBe('allow');
  });
});

describe('a variable that is run', () => {
  it.each([
    'LD_PRELOAD=./x git status',
    'env LD_PRELOAD=./x git status',
    'env -u A LD_PRELOAD=./x git status',
    'sudo LD_PRELOAD=./x git status',
    'env "GIT_SSH_COMMAND=./x" git fetch',
    'env PAGER="$X" git log',
    'nice env GIT_PAGER=./x git log',
  ])('is asked about, however it is set: %s', (command) => {
    expect(verdict(command)).toBe('ask');
  });

  it('may hold what is dangerous in itself, which is blocked', () => {
    expect(verdict("env GIT_SSH_COMMAND='rm -rf /' git fetch")).toBe('block');
  });

  it.each(['env PAGER=cat git log', 'env LANG=C ls', 'env -i A=1 B=2 make'])(
    'needs no question if it is harmless: %s',
    (command) => {
      expect(verdict(command)).toBe('allow');
    },
  );
});
