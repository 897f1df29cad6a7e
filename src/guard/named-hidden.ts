import { createRegistry } from '../executor/declare/registry.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { sandboxFor } from '../executor/sandbox-for.js';
import { createSandbox } from '../files/create-sandbox.js';

/** The file patterns of an agent's own search. */
export interface NamedFiles {
  readonly patterns: readonly string[];
  /** Absolute. */
  readonly directory: string;
}

/**
 * The reason why a person is asked about a search: its patterns name a file that deny patterns hide. Agents search by
 * themselves and ignore deny patterns. Undefined: no pattern names such a file.
 */
export function namesHidden(
  { patterns, directory }: NamedFiles,
  options: ExecutorOptions & Required<Pick<ExecutorOptions, 'root'>>,
): string | undefined {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!')).map(fromDirectory);
  if (wanted.length === 0) return undefined;
  const { sandbox } = sandboxFor(options, { policy: null, registry: createRegistry([]) });
  const { hidden = [], incomplete = false } = sandbox.guarded?.('every') ?? {};
  if (hidden.length > 0) {
    const { denied } = createSandbox({
      roots: [directory],
      deniedPatterns: wanted,
      includeDefaultDenies: false,
    });
    const isNamed = (path: string): boolean => denied?.(path, 'read') !== undefined;
    // Its files are as hidden as the directory.
    const isNamedBelow = (path: string): boolean => denied?.(path, 'link') !== undefined;
    const found = hidden.find(({ path, type }) => isNamed(path) || (type === 'dir' && isNamedBelow(path)));
    if (found !== undefined) return `its pattern names ${found.path}, which deny patterns hide`;
  }
  return incomplete ? 'the project holds more than can be searched for what deny patterns hide' : undefined;
}

/** A name without a directory is looked for at every depth, as in a .gitignore. */
function fromDirectory(pattern: string): string {
  return pattern.includes('/') ? pattern.replace(/^\.\//, '') : `**/${pattern}`;
}
