import { describe, expect, it } from 'vitest';
import type { ToolSource } from '../../contract/external.js';
import type { Tool } from '../../contract/tool.js';
import { defineTool } from './define-tool.js';
import { createLiveRegistry } from './live-registry.js';
import { createRegistry } from './registry.js';

const tool = (name: string, aliases: readonly string[] = []): Tool =>
  defineTool({
    name,
    aliases,
    description: name,
    input: { type: 'object' },
    effects: () => [],
    execute: () => name,
  });

class Source implements ToolSource {
  tools: readonly Tool[] = [];
  revision = 0;

  replace(...tools: readonly Tool[]): void {
    this.tools = tools;
    this.revision++;
  }
}

describe('a live registry', () => {
  it('has what its sources have at the moment, and grows with each of their changes', () => {
    const source = new Source();
    const registry = createLiveRegistry(createRegistry([tool('own')]), [source], () => {});
    const names = (): string[] => registry.definitions().map(({ name }) => name);
    expect(names()).toEqual(['own']);
    const before = registry.revision;
    source.replace(tool('b'), tool('a'));
    expect([names(), registry.revision > before]).toEqual([['a', 'b', 'own'], true]);
    source.replace(tool('a'));
    expect([names(), registry.has('b')]).toEqual([['a', 'own'], false]);
    expect(() => registry.get('b')).toThrow('Unknown tool "b"');
  });

  it('leaves out a tool whose name, or one of whose aliases, is taken, and tells it once', () => {
    const told: string[] = [];
    const [first, second] = [new Source(), new Source()];
    const own = createRegistry([tool('read_file', ['Read'])]);
    const registry = createLiveRegistry(own, [first, second], (left, holder) =>
      told.push(`${left.name}: ${holder.name}`),
    );
    first.replace(tool('Read'), tool('x'));
    second.replace(tool('x'), tool('y', ['read_file']), tool('z'));
    expect(registry.list().map(({ name }) => name)).toEqual(['read_file', 'x', 'z']);
    expect(registry.find('Read')).toBe(own.find('read_file'));
    expect(registry.find('x')).toBe(first.tools[1]);
    second.replace(...second.tools);
    registry.list();
    expect(told).toEqual(['Read: read_file', 'x: x', 'y: read_file']);
  });

  it('accepts its own tools, but not under a name that a source uses', () => {
    const source = new Source();
    source.replace(tool('a'));
    const registry = createLiveRegistry(createRegistry(), [source], () => {});
    registry.register(tool('own'));
    expect(registry.has('own')).toBe(true);
    expect(() => registry.register(tool('a'))).toThrow('the name is taken');
    expect(() => registry.register(tool('own'))).toThrow('the name "own" is taken');
  });
});
