import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** One word for one thing: retired words, and their replacements. */
const RETIRED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:nobody|somebody|anybody|everybody|whoever)\b/i, 'the caller, the process, the person'],
  [/\banew\b/i, 'again; rerun'],
  [/judge|judging/i, 'evaluate, check, plan, compare'],
  [/territor(?:y|ies)/i, 'roots'],
  [/enclosure/i, 'containment, contained files'],
  [/\bstand-?ins?\b/i, 'placeholder'],
  [/\bwall(?:s|ed)?\b|wall[A-Z]|[a-z]Wall/, 'command sandbox; sandbox, and its kind'],
  [/\bspares?\b/i, 'prewarmed'],
  [/\bnear-?miss(?:es)?\b/i, 'suggestions'],
  [/\bsurroundings\b|Surroundings/i, 'context'],
  [/\bengines?\b|Engine/i, 'executor; the thing’s own name'],
  [/\bPatience\b/, 'deadline'],
  [/\bseeOff\b/, 'terminate'],
  [/\b[Ss]ettl(?:es?|ing)\b|settle[A-Z]/, 'normalize, resolve, recover, decide'],
  [/\bonions?\b/i, 'middleware chain'],
  [/\bstray ?errors?\b/i, 'unhandled error'],
];

/** Named by others: a user of Unix, an option, a variable, a directory, a field; and a member of results that stays for one version. */
const NAMES =
  /"nobody"|\bNOBODY\b|\bwall: kind,|its old name `wall`|--engine=default|unresponsive_engines|OPENSSL_ENGINES|\.templateengine|\boverrides resolutions engines\b/g;

const files = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...filesIn('src', (name) => name.endsWith('.ts') && !name.endsWith('.test.ts')),
  // docs/requirements.md quotes the names of tests.
  ...filesIn('docs', (name) => name.endsWith('.md') && name !== 'requirements.md'),
];

describe('plain words', () => {
  it('are looked for in what there is', () => {
    expect(files.length).toBeGreaterThan(300);
    expect(findRetired('Nobody judges the wall anew.')).toHaveLength(4);
  });

  it('take the place of words that the code has given up', () => {
    const found = files.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => findRetired(line).map((what) => `${file}:${index + 1}: ${what}`)),
    );
    expect(found).toEqual([]);
  });
});

function filesIn(folder: string, isWanted: (name: string) => boolean): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(isWanted)
    .map((name) => join(folder, name));
}

function findRetired(line: string): string[] {
  const text = line.replaceAll(NAMES, '');
  return RETIRED.flatMap(([pattern, instead]) => {
    const [word] = pattern.exec(text) ?? [];
    return word === undefined ? [] : [`"${word}": say ${instead}`];
  });
}
