import { describe, expect, it } from 'vitest';
import { isPersons } from '../approve/ask-approval.js';
import { agreedNames } from './agreed-names.js';

const agreed = { isAgreed: true };
const may = (command: string, path: string, isDirectory = false): boolean | undefined =>
  agreedNames(agreed, undefined, { command, cwd: '/work/app' })?.(`/work/app/${path}`, isDirectory);

describe('agreedNames()', () => {
  it.each([
    ['cp .env.example .env', '.env'],
    ['cp .env.example ./.env; ls', '.env'],
    ['echo A=1 >.env', '.env'],
    ["printf x > 'a/key.pem'", 'a/key.pem'],
    ['openssl genrsa -out key.pem 2048', 'key.pem'],
    ['openssl req -keyout=/work/app/key.pem', 'key.pem'],
  ])('finds what a command names: %s', (command, path) => {
    expect(may(command, path)).toBe(true);
  });

  it.each([
    ['cp .env.example x', '.env'],
    ['sh make-keys.sh', 'key.pem'],
    ['cp my.env x', '.env'],
    ['cp ../.env x', '.env'],
    ['cp .env* x', '.env'],
    ['cat other/key.pem', 'key.pem'],
    ['cat key.pem/x', 'key.pem'],
    ['touch key.pem.bak', 'key.pem'],
    ['cd a && touch key.pem', 'a/key.pem'],
  ])('finds nothing else: %s', (command, path) => {
    expect(may(command, path)).toBe(false);
  });

  it('finds a directory by what is in it', () => {
    expect(may('mkdir -p .ssh/x', '.ssh', true)).toBe(true);
    expect(may('mkdir .sshx', '.ssh', true)).toBe(false);
    expect(may('mkdir .ssh', '.ssh/x')).toBe(false);
  });

  it('takes options for no person', () => {
    expect([isPersons('--yes'), isPersons('ada'), isPersons(undefined)]).toEqual([false, true, true]);
    expect(agreedNames({ isAgreed: false }, undefined, { command: 'touch .env', cwd: '/' })).toBe(undefined);
  });
});
