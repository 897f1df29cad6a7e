import type { ExternalTools } from '../contract/external.js';
import type { DiscoverOptions } from '../external/external-options.js';
import { defineOwnTool } from './declare/define-tool.js';

/** E037: the directory for tools that were written for the first program with this protocol. */
const DEFAULT_DIRECTORY = '~/.gibson/tools/bin';

/**
 * Turns the executable files of one or several directories into tools: each answers `--schema` with its
 * description, and runs once for each call, with arguments on standard input and a JSON value on standard
 * output (E001–E039). `~` is the user's home. A program that fails does not affect others: `list()` gives its
 * fault. A directory that does not exist has no tools.
 *
 * The result follows `refresh()`: as a source (`createExecutor({ external })`, `{ tools: [builtinTools(),
 * external] }`) the executor follows it; spread (`[...external.tools]`) it is a snapshot. Close it when done
 * (`await using` does).
 * @throws ToolError `config_invalid` for a wrong option, or if a path is not a directory.
 */
export async function discoverTools(
  directories: string | readonly string[] = DEFAULT_DIRECTORY,
  options: DiscoverOptions = {},
): Promise<ExternalTools> {
  // The code that starts processes is loaded only by programs that have such tools.
  const { openExternalTools } = await import('../external/open-external-tools.js');
  // Their schemas were compiled when they were read.
  return openExternalTools(directories, options, defineOwnTool);
}
