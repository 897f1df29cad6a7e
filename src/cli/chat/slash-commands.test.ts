import { describe, expect, it } from 'vitest';
import { completeSlash, HELP, readPersonLine, SLASH_COMMANDS } from './slash-commands.js';

describe('readPersonLine()', () => {
  it.each([
    ['', { kind: 'empty' }],
    ['what is /etc/hosts?', { kind: 'said', text: 'what is /etc/hosts?' }],
    ['/etc/hosts says what?', { kind: 'said', text: '/etc/hosts says what?' }],
    ['/undo call_1', { kind: 'slash', name: 'undo', rest: 'call_1' }],
    [' /exit ', { kind: 'slash', name: 'quit', rest: '' }],
    ['!git status', { kind: 'shell', command: 'git status' }],
    ['!', { kind: 'unknown', message: 'Write a command behind the !, such as !git status.' }],
    ['/hlep', { kind: 'unknown', message: 'There is no /hlep. Did you mean /help? See /help.' }],
    ['/tool', { kind: 'unknown', message: expect.stringContaining('There is no /tool.') }],
  ])('takes %j for what it is', (line, read) => {
    expect(readPersonLine(line)).toEqual(read);
  });
});

describe('the help', () => {
  it('names every command, and so does the tab key', () => {
    for (const name of Object.keys(SLASH_COMMANDS)) expect(HELP).toContain(`/${name}`);
    expect(completeSlash('/re')).toEqual(['/resume']);
    expect(completeSlash('re')).toEqual([]);
  });
});
