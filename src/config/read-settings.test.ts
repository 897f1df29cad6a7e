import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../errors/tool-error.js';
import { SHARE_OF_RUNS } from '../testing/fixtures/share-of-runs.js';
import { CONFIG_KEYS } from './config-keys.js';
import { readSettings } from './read-settings.js';

/** A recursion of that depth overflows the stack, and an algorithm of quadratic time takes a minute. */
const MANY = 100_000 * SHARE_OF_RUNS;

describe('readSettings()', () => {
  it.each([
    ['[tools]\nmode = "on"', '2:1: tools.mode must be one of'],
    ['[tools]\n  mod = "x"', '2:3: tools.mod is not known. Did you mean tools.mode?'],
    ['[tools]\nalowlist = []', '2:1: tools.alowlist is not known. Did you mean tools.approval.allowlist?'],
    ['[tools]\nallowlist = []', '2:1: tools.allowlist is not known. Did you mean tools.approval.allowlist?'],
    ['# hello\n\n[tools.sandbx]\nx = 1', '3:8: [tools.sandbx] is not known. Did you mean [tools.sandbox]?'],
    ['[policy]\nmode = "auto"', '1:2: [policy] is not known. Did you mean [tools.approval]?'],
    ['[[policy.rules]]\ndecision = "allow"', '1:3: [policy] is not known. Did you mean [tools.approval]?'],
    ['[tools.policy]\nx = 1', '1:8: [tools.policy] is not known. Did you mean [tools.approval]?'],
    ['[policy.sub]\nx = 1', '1:2: [policy] is not known. Did you mean [tools.approval]?'],
    ['[env]\nA = "1"', '1:2: [env] is not known. Did you mean [tools.environment]?'],
    ['tools = { mode = "on" }', '1:11: tools.mode must be'],
    ['tools.approval.mode = "x"', '1:16: tools.approval.mode must be'],
    [
      '[tools.approval]\ndenylist = [\n  "bash",\n  "a b",\n]',
      '4:3: tools.approval.denylist must be a list of names of tools',
    ],
    ['[tools.sandbox]\ndenied_patterns = ["*.x", "[a"]', '2:27: tools.sandbox.denied_patterns must be'],
    [
      '[tools.environment]\npass = ["A=B"]',
      '2:9: tools.environment.pass must be a list of names of variables',
    ],
    ['\ufeff[tools]\r\nmode = 3\r\n', '2:1: tools.mode must be'],
    ['"tools.mode" = "enabled"', '1:1: "tools.mode" is not known. Write tools.mode, without quotes.'],
    [
      '[tools]\nmax_tool_args_bytes = -inf',
      '2:1: tools.max_tool_args_bytes must be a whole number of bytes from 1, not -inf.',
    ],
    ['[tools]\nmode = 1979-05-27', '2:1: tools.mode must be'],
    [
      '[[tools.definitions]]\nname = "a b"\ndescription = "d"\nparameters = { type = "object" }',
      '2:1: tools.definitions[0].name must be a name of letters',
    ],
    [
      '[[tools.definitions]]\nname = "a"\nparameters = { type = "object" }',
      '1:9: tools.definitions[0].description must be a text that says what the tool does, and is missing.',
    ],
    [
      '[[tools.definitions]]\nname = "a"\ndescription = "d"\nparameters = { type = "array" }',
      '4:16: tools.definitions[0].parameters.type must be "object", not "array".',
    ],
    [
      '[[tools.definitions]]\nname = "a"\ndescription = "d"\n[tools.definitions.parameters]\ntype = "object"\nx-since = 1979-05-27',
      '6:1: tools.definitions[0].parameters.x-since must be a value of JSON',
    ],
    [
      '[[tools.definitions]]\nname = "a"\ndescription = "d"\ninput = 1\nparameters = { type = "object" }',
      '4:1: tools.definitions[0].input is not known. Known: name, description, parameters.',
    ],
    ['[tools]\ndefinitions = ["a"]', '2:16: tools.definitions[0] must be a definition of a tool'],
    [
      '[[tools.approval.rules]]\ndecision = "deny"\nreason = "x"\npath = "a/[b"',
      '4:1: tools.approval.rules[0].path: cannot use "a/[b": ',
    ],
    ['[tools]\ndefinitions = 3', '2:1: tools.definitions must be a list of definitions of tools, not 3.'],
  ])('refuses %j', (text, told) => {
    const { message } = refusal(text);
    expect(message).toContain(`Cannot use the configuration my.toml:${told}`);
    expect(message).not.toContain('\n');
  });

  it('refuses a name that two definitions have', () => {
    const one = '[[tools.definitions]]\nname = "a"\ndescription = "d"\nparameters = { type = "object" }\n';
    expect(refusal(one + one).message).toContain(
      'my.toml:6:1: tools.definitions[1].name is "a", as [0].name is.',
    );
  });

  it('tells all problems of a file, in the order of the text', () => {
    const { message, details } = refusal('[tools.output]\nmax_bytes = -1\nx = 1\n[tools]\nmode = 1\n\n[a]\n');
    expect(message).toMatch(/^Cannot use the configuration my\.toml:2:1: .* And 3 more problems\.$/);
    expect(details).toEqual({
      count: 4,
      problems: [
        'my.toml:2:1: tools.output.max_bytes must be a whole number of bytes from 0, not -1.',
        'my.toml:3:1: tools.output.x is not known. Remove it.',
        expect.stringContaining('my.toml:5:1: tools.mode must be'),
        'my.toml:7:2: [a] is not known. Remove it.',
      ],
    });
  });

  it('reports at most fifty of very many problems, in one error', () => {
    const { details } = refusal(Array.from({ length: MANY }, (_, index) => `mod${index} = 1`).join('\n'));
    expect(details.count).toBe(MANY);
    expect(details.problems).toHaveLength(50);
  });

  it.each([
    ['a key of very many parts', `${'tools.'.repeat(MANY * 1.7)}x = 1`],
    ['a value that is nested in very many keys', `[tools.mode.${'x.'.repeat(MANY * 5)}y]`],
    [
      'a schema that is nested in very many keys',
      `[[tools.definitions]]\nparameters.${'x.'.repeat(MANY * 4)}y = 1`,
    ],
    ['brackets', `a = ${'['.repeat(300_000)}`],
  ])('refuses %s in one short line', (_what, text) => {
    expect(refusal(text).message.length).toBeLessThan(500);
  });

  it('shows nothing that a terminal would obey', () => {
    const { message } = refusal('"\\u001b[31m\\n\\u202e" = 1\n[tools]\nmode = "\\u009b\\u0007"');
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('gives each setting its place', () => {
    const settings = readSettings('[tools]\nmode = "enabled"\n\n[tools.output]\nmax_bytes = 5', 'my.toml');
    expect(settings.map(({ key, place }) => [key, place().line])).toEqual([
      ['tools.mode', 2],
      ['tools.output.max_bytes', 5],
    ]);
  });

  it('reads a table of patterns that are many, in a few seconds', () => {
    const text = `tools.sandbox.denied_patterns = [${'"**/*.{a,b}",'.repeat(20_000)}]`;
    expect(readSettings(text, 'my.toml')).toHaveLength(1);
  });

  it('points into the text for any key that is not known', () => {
    const names = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, fc.nat(5), (path, blank) => {
        const key = ['unheard_of', ...path].join('.');
        fc.pre(!Object.hasOwn(CONFIG_KEYS, key));
        const { message } = refusal(`${'\n'.repeat(blank)}  ${key} = 1`);
        expect(message).toContain(`my.toml:${blank + 1}:3: `);
      }),
    );
  });
});

function refusal(text: string): ToolError {
  try {
    readSettings(text, 'my.toml');
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
