import {
  isBoolean,
  isObject,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { Clock } from '../contract/context.js';
import type { Registry, Tool } from '../contract/tool.js';
import { systemClock } from '../platform/clock/clock.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import { applyPatchTool } from '../tools/apply-patch/apply-patch.js';
import { askUserQuestionTool } from '../tools/ask-user-question.js';
import { type BashOptions, bashTool } from '../tools/bash.js';
import { bashOutputTool } from '../tools/bash-output.js';
import { editFileTool } from '../tools/edit-file.js';
import { globTool } from '../tools/glob.js';
import { grepTool } from '../tools/grep.js';
import { killShellTool } from '../tools/kill-shell.js';
import { listDirectoryTool } from '../tools/list-directory/list-directory.js';
import type { ListDirectoryOptions } from '../tools/list-directory/list-request.js';
import { readFileTool } from '../tools/read-file/read-file.js';
import { runCommandTool } from '../tools/run-command.js';
import { taskTool } from '../tools/task.js';
import { todoWriteTool } from '../tools/todo-write.js';
import { type WebFetchOptions, webFetchTool } from '../tools/web-fetch/web-fetch.js';
import { type WebSearchOptions, webSearchTool } from '../tools/web-search/web-search.js';
import { writeFileTool } from '../tools/write-file.js';
import { defineOwnTool } from './declare/define-tool.js';
import { createRegistry } from './declare/registry.js';

/** Options of single tools. */
export interface BuiltinToolsOptions {
  /** `[tools.list_directory]` */
  readonly listDirectory?: ListDirectoryOptions;
  /** `[tools.bash]` */
  readonly bash?: BashOptions;
  /** `[tools.web_fetch]` */
  readonly webFetch?: WebFetchOptions;
  /** `[tools.web_search]` */
  readonly webSearch?: WebSearchOptions;
  /**
   * Includes the tool `task`. Set it for an executor with the option `agents`, or one that is passed to a loop. Default
   * false.
   */
  readonly agents?: boolean;
}

const RULES: OptionRules<{
  bash: BashOptions | undefined;
  listDirectory: ListDirectoryOptions | undefined;
  agents: boolean;
  webFetch: WebFetchOptions | undefined;
  webSearch: WebSearchOptions | undefined;
}> = {
  bash: option(undefined, isObject, 'an object'),
  listDirectory: option(undefined, isObject, 'an object'),
  agents: option(false, isBoolean, 'true or false'),
  webFetch: option(undefined, isObject, 'an object'),
  webSearch: option(undefined, isObject, 'an object'),
};

/**
 * Creates the built-in tools, new each time.
 * @throws ToolError `config_invalid` for a wrong or unknown option.
 */
export function builtinTools(options: BuiltinToolsOptions = {}): Tool[] {
  return ownTools(options, systemClock);
}

/** The same with another clock, which gives the times at which files are read and written (D071). */
export function ownTools(options: BuiltinToolsOptions, clock: Clock): Tool[] {
  const {
    listDirectory,
    agents,
    bash,
    webFetch = {},
    webSearch = {},
  } = normalizeOptions('builtinTools', options, RULES);
  const now = (): number => clock.now();
  return [
    defineOwnTool(applyPatchTool({ now })),
    defineOwnTool(askUserQuestionTool()),
    defineOwnTool(bashTool(bash)),
    defineOwnTool(bashOutputTool()),
    defineOwnTool(editFileTool({ now })),
    defineOwnTool(globTool()),
    defineOwnTool(grepTool()),
    defineOwnTool(killShellTool()),
    defineOwnTool(listDirectoryTool(listDirectory)),
    defineOwnTool(readFileTool({ now })),
    defineOwnTool(runCommandTool()),
    ...(agents ? [defineOwnTool(taskTool(now))] : []),
    defineOwnTool(todoWriteTool()),
    defineOwnTool(webFetchTool(webFetch, now)),
    defineOwnTool(webSearchTool(webSearch, (name) => readEnvironment()[name])),
    defineOwnTool(writeFileTool({ now })),
  ];
}

/** The same tools plus `task`. A registry that already has `task` is unchanged. */
export function withTask(registry: Registry, clock: Clock): Registry {
  if (registry.has('task')) return registry;
  return createRegistry([...registry.list(), defineOwnTool(taskTool(() => clock.now()))]);
}
