import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import type { CrashTrial } from './crash-trial.js';

/** The `file:` URL of a module. @throws ToolError `config_invalid` when it is neither that nor an absolute path. */
export function moduleUrl(module: string | URL): string {
  if (module instanceof URL) return module.href;
  if (module.startsWith('file:')) return module;
  if (isAbsolute(module)) return pathToFileURL(module).href;
  throw new ToolError(
    'config_invalid',
    `Cannot find the tools' module "${module}" from here: give an absolute path or a file: URL.`,
  );
}

/** What a module under trial exports. */
export interface TrialModule extends Partial<Pick<CrashTrial, 'calls' | 'prepare' | 'observe' | 'knowable'>> {
  readonly tools: readonly Tool[];
}

/**
 * The tools that a module exports by default, as `tools` or as `tool` (one, several, or a function that gives them),
 * and whatever else of a trial it exports under its name.
 * @throws ToolError `config_invalid` when it cannot be imported, or exports no tools.
 */
export async function loadTrialModule(url: string): Promise<TrialModule> {
  const { default: main, tools, tool, ...rest } = await importModule(url);
  const named = main ?? tools ?? tool;
  const given: unknown = typeof named === 'function' ? await named() : named;
  const list: unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0 || !list.every(isTool)) {
    throw new ToolError(
      'config_invalid',
      `${url} exports no tools: its default export must be what defineTool gives, or a list of that.`,
    );
  }
  return { tools: list, ...pickTrial(rest, url) };
}

function pickTrial(exported: Readonly<Record<string, unknown>>, url: string): Omit<TrialModule, 'tools'> {
  const wanted = { calls: 'array', knowable: 'array', prepare: 'function', observe: 'function' } as const;
  const found: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(wanted)) {
    const value = exported[name];
    if (value === undefined) continue;
    if (type === 'array' ? !Array.isArray(value) : typeof value !== 'function')
      throw new ToolError(
        'config_invalid',
        `${url} exports ${name}, which must be ${type === 'array' ? 'an' : 'a'} ${type}.`,
      );
    found[name] = value;
  }
  return found as Omit<TrialModule, 'tools'>;
}

async function importModule(url: string): Promise<Record<string, unknown>> {
  try {
    return (await import(url)) as Record<string, unknown>;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError('config_invalid', `Cannot import the tools' module ${url}: ${why}`, { cause: error });
  }
}

function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && 'execute' in value && 'name' in value;
}
