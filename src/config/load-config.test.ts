import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isToolError } from '../errors/tool-error.js';
import { CONFIG_KEYS } from './config-keys.js';
import { loadConfig, parseConfig } from './load-config.js';

const PLACE = { file: 'toolexec.toml', directory: '/project' };

describe('parseConfig()', () => {
  it('sets what is named and nothing else', () => {
    const text = `
      [tools]
      mode = "parse_only"
      allow_parallel = true
      [tools.timeouts]
      default_seconds = 0.5
      shell_commands_seconds = 60
      [tools.approval]
      allowlist = []
    `;
    expect(parseConfig(text, PLACE)).toEqual({
      executor: {
        mode: 'parse_only',
        timeouts: { defaultMs: 500, shellCommandsMs: 60_000 },
        policy: { allowlist: [] },
      },
      run: { parallel: true },
    });
    expect(parseConfig('', PLACE)).toEqual({ executor: {}, run: {} });
  });

  it('starts relative roots from the directory of the file', () => {
    const { executor } = parseConfig('tools.sandbox.allowed_roots = ["src", "/abs", ".."]', PLACE);
    expect(executor.root).toEqual(['/project/src', '/abs', '/']);
  });

  it.each([
    ['[tools]\nmode = "auto"', 'tools.mode must be one of "disabled", "parse_only", "enabled", not "auto".'],
    ['[tools]\nmode = ""', 'tools.mode must be one of'],
    ['[tools]\nallow_parallel = "yes"', 'tools.allow_parallel must be true or false, not "yes".'],
    [
      '[tools]\nmax_tool_calls_per_batch = 0',
      'tools.max_tool_calls_per_batch must be a whole number of calls from 1, not 0.',
    ],
    ['[tools]\nmax_tool_calls_per_batch = 1.5', 'not 1.5.'],
    ['[tools.timeouts]\ndefault_seconds = 0', 'must be a number of seconds from 0.001'],
    ['[tools.timeouts]\ndefault_seconds = inf', 'must be a number of seconds'],
    ['[tools.timeouts]\ndefault_seconds = nan', 'must be a number of seconds'],
    ['[tools.approval]\ndenylist = "bash"', 'tools.approval.denylist must be a list of names'],
    ['[tools.approval]\ndenylist = [""]', 'must be a list of names'],
    ['[tools.approval]\nmode = "Prompt"', 'one of "auto", "prompt", "deny"'],
    ['[tools.sandbox]\nallowed_roots = []', 'at least one directory'],
    ['[tools.output]\nmax_bytes = 1979-05-27', 'tools.output.max_bytes must be'],
    ['[tools]\nmod = "enabled"', 'tools.mod is not known. Did you mean tools.mode?'],
    ['[tools.sandbx]\nx = 1', '[tools.sandbx] is not known. Did you mean [tools.sandbox]?'],
    ['[tools.sandbx]', '[tools.sandbx] is not known.'],
    ['tools = 3', 'tools must be a section: write [tools].'],
    ['[[tools]]\nmode = "enabled"', 'tools must be a section'],
    ['[tools.mode]\nx = 1', 'tools.mode must be one of'],
    ['toString = 1', 'toString is not known.'],
    ['[tools\n', 'toolexec.toml:1:'],
    ['[tools]\nmode = "enabled"\nmode = "disabled"', 'toolexec.toml:3:'],
    ['a = 99999999999999999999', 'toolexec.toml:1:5'],
    ['__proto__.x = 1', 'toolexec.toml:1:1'],
  ])('refuses %j', (text, told) => {
    const error = refusal(text);
    expect(isToolError(error, 'config_invalid')).toBe(true);
    expect(String(error)).toContain(told);
    expect(String(error)).not.toContain('\n');
  });

  it('knows every key by its full name, and no other', () => {
    const name = fc.stringMatching(/^[a-z_]{1,12}(\.[a-z_]{1,12}){0,2}$/);
    fc.assert(
      fc.property(name, (key) => {
        fc.pre(!Object.hasOwn(CONFIG_KEYS, key));
        expect(isToolError(refusal(`${key} = 1`), 'config_invalid')).toBe(true);
      }),
    );
  });

  it('throws nothing but ToolError, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const error = refusal(text);
        expect(error === undefined || isToolError(error)).toBe(true);
      }),
    );
  });
});

describe('loadConfig()', () => {
  it.each(['', 1, null, {}, { file: 'toolexec.toml' }])('refuses %j, which names no file', (file) => {
    expect(() => loadConfig(file as string)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

function refusal(text: string): unknown {
  try {
    parseConfig(text, PLACE);
    return undefined;
  } catch (error) {
    return error;
  }
}
