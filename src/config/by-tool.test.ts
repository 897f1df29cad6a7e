import { describe, expect, it } from 'vitest';
import { configSchema } from './config-schema.js';
import { workshop } from './fixtures/workshop.js';
import { parseConfig } from './load-config.js';
import { resolveConfig } from './resolve-config.js';

const PLACE = { file: 'toolexec.toml', directory: '/project' };

describe('settings by tool', () => {
  it('become options by the names of the tools', () => {
    const text = `
      [tools.external]
      max_concurrent = { slug = 2 }
      [tools.external.versions]
      slug = "^1.2"
      csv-columns = ">=1 <3"
      [tools.external.timeouts]
      slug = 0.5
      [tools.external.breaker]
      threshold = 0
      cooldown_seconds = 2
      [tools.external.warm]
      processes = 0
      max_calls = 20
      idle_seconds = 1.5
      check_after_seconds = 0.25
      start_seconds = 3
    `;
    expect(parseConfig(text, PLACE)).toEqual({
      executor: {},
      run: {},
      external: {
        maxConcurrent: { slug: 2 },
        versions: { slug: '^1.2', 'csv-columns': '>=1 <3' },
        timeouts: { slug: 500 },
        breaker: { threshold: 0, cooldownMs: 2000 },
        warm: { processes: 0, maxCalls: 20, idleMs: 1500, checkAfterMs: 250, startMs: 3000 },
      },
    });
    expect(parseConfig('tools.external.max_concurrent = 3', PLACE).external).toEqual({ maxConcurrent: 3 });
  });

  it.each([
    ['versions.slug = "newest"', 'tools.external.versions must be a table of version ranges by tool'],
    ['versions.slug = 1', 'not 1.'],
    ['versions = "^1"', 'not "^1".'],
    ['versions."a b" = "^1"', 'must be a table of version ranges'],
    ['timeouts.slug = 0', 'tools.external.timeouts must be a table of seconds by tool'],
    [
      'max_concurrent = 0',
      'tools.external.max_concurrent must be a whole number of calls from 1, or a table',
    ],
    ['max_concurrent.slug = 1.5', 'not 1.5.'],
    ['warm.processes = -1', 'tools.external.warm.processes must be a whole number of processes from 0'],
    ['warm.idle_seconds = 0', 'tools.external.warm.idle_seconds must be a number of seconds from 0.001'],
    ['breaker.threshold = -1', 'tools.external.breaker.threshold must be a whole number of failures from 0'],
  ])('are refused with their place: %s', (line, message) => {
    const text = `tools.external.directories = []\ntools.external.${line}\n`;
    expect(() => parseConfig(text, PLACE)).toThrow(message);
    expect(() => parseConfig(text, PLACE)).toThrow(/^.*toolexec\.toml:2:/);
  });

  it('can be set in the environment', () => {
    const { project, env } = workshop();
    const told = {
      TOOLEXEC_TOOLS_EXTERNAL_VERSIONS: '{ slug = "^2" }',
      TOOLEXEC_TOOLS_EXTERNAL_MAX_CONCURRENT: '2',
    };
    expect(resolveConfig({ cwd: project, env: { ...env, ...told } }).configuration.external).toEqual({
      versions: { slug: '^2' },
      maxConcurrent: 2,
    });
  });

  it('are in the schema for editors', () => {
    expect(JSON.stringify(configSchema())).toContain('"versions":{"description":"By tool, the range');
  });
});
