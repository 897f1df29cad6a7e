import { describe, expect, it } from 'vitest';
import { expandReferences, referredVariable, translateReferences } from './server-references.js';

/** A reference as it is written: not a template of this file. */
const ref = (inside: string): string => `$\{${inside}}`;

describe('expandReferences()', () => {
  const expand = (text: string): readonly [string, ...string[]] => {
    const values: string[] = [];
    return [expandReferences(text, { KEY: 'k-1', EMPTY: '' }, (value) => values.push(value)), ...values];
  };

  it('gives the values of variables, and reports each', () => {
    expect(expand(`Bearer ${ref('env:KEY')}, ${ref('env:KEY')}`)).toEqual(['Bearer k-1, k-1', 'k-1', 'k-1']);
    expect(expand(`${ref('env:EMPTY')}|${ref('env:NONE:-other')}`)).toEqual(['|other', '', 'other']);
  });

  it('leaves other texts unchanged, and refuses a variable that is not set', () => {
    const other = `${ref('KEY')} $KEY ${ref('input:key')} ${ref('env:')}`;
    expect(expand(other)).toEqual([other]);
    expect(() => expand(ref('env:NONE'))).toThrow('the variable NONE is not set');
  });
});

describe('translateReferences()', () => {
  const translate = (text: string, folder = '.vscode') =>
    translateReferences(text, { file: `/work/app/${folder}/mcp.json`, home: '/home/ada' });

  it.each([
    [ref('TOKEN'), ref('env:TOKEN')],
    [ref('env:TOKEN'), ref('env:TOKEN')],
    [`${ref('BASE:-https://a.test')}/mcp`, `${ref('env:BASE:-https://a.test')}/mcp`],
    [`${ref('workspaceFolder')}/x`, '/work/app/x'],
    [ref('workspaceFolderBasename'), 'app'],
    [`${ref('userHome')}${ref('/')}x`, '/home/ada/x'],
    [ref('input:github-token'), ref('env:GITHUB_TOKEN')],
    ['costs $5, $HOME', 'costs $5, $HOME'],
  ])('%s becomes %s', (given, expected) => {
    expect(translate(given)?.text).toBe(expected);
  });

  it('knows variables without braces only in the files of Gemini CLI', () => {
    expect(translate('Bearer $TOKEN', '.gemini')?.text).toBe(`Bearer ${ref('env:TOKEN')}`);
  });

  it('has no counterpart for commands of an editor', () => {
    expect(translate(`a ${ref('command:pick')}`)).toBeUndefined();
    expect(translate(ref('config:editor.fontSize'))).toBeUndefined();
  });
});

it('referredVariable() is undefined for a text with more than a variable', () => {
  expect(referredVariable(ref('env:KEY'))).toBe('KEY');
  expect(referredVariable(`Bearer ${ref('env:KEY')}`)).toBeUndefined();
});
