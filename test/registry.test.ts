import { describe, expect, it } from 'vitest';
import {
  createExecutor,
  createRegistry,
  defaultRegistry,
  defineTool,
  type Tool,
  ToolError,
} from '../src/index.js';

describe('a registry', () => {
  it('registers, gets and lists, sorted by name', () => {
    const registry = createRegistry([named('b'), named('a', ['Alpha'])]);
    registry.register(named('C'));
    expect(registry.get('a').name).toBe('a');
    expect(registry.get('Alpha')).toBe(registry.get('a'));
    expect(registry.list().map(({ name }) => name)).toEqual(['C', 'a', 'b']);
    expect(registry.definitions()).toEqual(
      ['C', 'a', 'b'].map((name) => ({
        name,
        description: `the tool ${name}`,
        inputSchema: { type: 'object' },
      })),
    );
    expect(registry.has('Alpha')).toBe(true);
    expect(registry.find('nobody')).toBeUndefined();
  });

  it('refuses a name or an alias that is taken, and changes nothing', () => {
    const first = named('a', ['x']);
    const registry = createRegistry([first]);
    for (const taken of [
      named('a'),
      named('x'),
      named('b', ['a']),
      named('b', ['x']),
      named('b', ['c', 'c']),
    ]) {
      expect(codeOf(() => registry.register(taken))).toBe('duplicate_tool');
    }
    expect(registry.list()).toEqual([first]);
    expect(registry.has('b')).toBe(false);
    expect(codeOf(() => createRegistry([named('a'), named('a')]))).toBe('duplicate_tool');
  });

  it('lets one of many concurrent registrations win', async () => {
    const registry = createRegistry();
    const attempts = Array.from({ length: 200 }, async (_, index) => {
      await Promise.resolve();
      const before = registry.list();
      try {
        registry.register(named(`tool_${index % 20}`));
        return true;
      } catch {
        return false;
      } finally {
        // A list that a caller holds does not change.
        expect(before.length).toBeLessThanOrEqual(registry.list().length);
      }
    });
    const won = (await Promise.all(attempts)).filter(Boolean);
    expect(won).toHaveLength(20);
    expect(registry.list()).toHaveLength(20);
  });

  it('keeps registries apart, the default one too', () => {
    const one = createRegistry([named('only_here')]);
    expect(createRegistry().has('only_here')).toBe(false);
    expect(defaultRegistry.has('only_here')).toBe(false);
    defaultRegistry.register(named('registered_by_itself'));
    expect(defaultRegistry.has('registered_by_itself')).toBe(true);
    expect(one.has('registered_by_itself')).toBe(false);
  });

  it('suggests the nearest name for one that is not there', () => {
    const registry = createRegistry([named('read_file'), named('write_file')]);
    expect(codeOf(() => registry.get('read_fil'))).toBe('unknown_tool');
    expect(() => registry.get('read_fil')).toThrow(/"read_fil".*"?read_file/);
    expect(codeOf(() => registry.get('constructor'))).toBe('unknown_tool');
  });

  it('lists what there is by name, without aliases, the nearest first, at most ten', async () => {
    const others = Array.from({ length: 12 }, (_, index) => named(`tool_${index + 10}`));
    const registry = createRegistry([...others, named('write_file'), named('read_file', ['Read'])]);
    await using executor = createExecutor({ tools: registry, policy: { denylist: ['write_file'] } });
    const known = ['read_file', ...others.slice(0, 9).map(({ name }) => name)];
    const list = `Did you mean "read_file"? Known tools: ${known.join(', ')} and 3 more.`;
    const byName = await executor.execute('raed_file', {});
    expect(byName.error?.message).toBe(`Unknown tool "raed_file". ${list}`);
    expect(byName.error?.details).toMatchObject({ name: 'raed_file', known, more: 3 });
    // The misspelled name is an alias: the message gives the real name.
    const byAlias = await executor.execute('Raed', {});
    expect(byAlias.error?.message).toMatch(
      /^Unknown tool "Raed". Did you mean "read_file"\? Known tools: read_file, /,
    );
    // A tool that the policy refuses by its name is no answer.
    const refused = await executor.execute('wriet_file', {});
    expect(refused.error?.message).not.toMatch(/write_file|Read\b/);
  });

  it('may grow while an executor uses it', async () => {
    const registry = createRegistry();
    await using executor = createExecutor({ tools: registry });
    expect((await executor.execute('late', {})).error?.code).toBe('unknown_tool');
    registry.register(named('late'));
    expect((await executor.execute('late', {})).output).toBe('late ran');
    expect(executor.definitions().map(({ name }) => name)).toEqual(['late']);
  });
});

function named(name: string, aliases: readonly string[] = []): Tool {
  return defineTool({
    name,
    aliases,
    description: `the tool ${name}`,
    input: { type: 'object' },
    effects: () => [],
    execute: () => `${name} ran`,
  });
}

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
}
