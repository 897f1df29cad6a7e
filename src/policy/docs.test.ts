import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ORDER } from './evaluation/order.js';
import { PRECISION } from './evaluation/precedence.js';
import { RULE_FIELDS } from './rules/rule-fields.js';

const lines = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8').split('\n');

/** The rows of the table under a header, as they stand. */
function tableUnder(header: string): readonly string[] {
  const start = lines.indexOf(header);
  expect(start).toBeGreaterThan(0);
  const rows = lines.slice(start + 2);
  return rows.slice(
    0,
    rows.findIndex((line) => !line.startsWith('|')),
  );
}

describe('docs/policy.md', () => {
  it('prints the tables that the code goes by', () => {
    const numbered = (table: readonly { readonly name: string; readonly meaning: string }[]) =>
      table.map(({ name, meaning }, index) => `| ${index + 1} | ${name} | ${meaning} |`);
    expect(tableUnder('| | step | condition and answer |')).toEqual(numbered(ORDER));
    expect(tableUnder('| | what is compared | what is more precise |')).toEqual(numbered(PRECISION));
    expect(tableUnder('| field | takes a list | condition |')).toEqual(
      Object.entries(RULE_FIELDS).map(
        ([name, { takesList, meaning }]) =>
          `| \`${name}\` | ${takesList === true ? 'yes' : ''} | ${meaning} |`,
      ),
    );
  });
});
