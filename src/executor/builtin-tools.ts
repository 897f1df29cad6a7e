import { isObject, normalizeOptions, type OptionRules, option } from '../base/normalize-options.js';
import type { Clock } from '../contract/context.js';
import type { Tool } from '../contract/tool.js';
import { systemClock } from '../platform/clock/clock.js';
import { applyPatchTool } from '../tools/apply-patch/apply-patch-tool.js';
import { bashTool } from '../tools/bash/bash-tool.js';
import { bashOutputTool } from '../tools/bash-output/bash-output-tool.js';
import { editFileTool } from '../tools/edit-file/edit-file-tool.js';
import { globTool } from '../tools/glob/glob-tool.js';
import { grepTool } from '../tools/grep/grep-tool.js';
import { killShellTool } from '../tools/kill-shell/kill-shell-tool.js';
import { listDirectoryTool } from '../tools/list-directory/list-directory-tool.js';
import type { ListDirectoryOptions } from '../tools/list-directory/list-request.js';
import { readFileTool } from '../tools/read-file/read-file-tool.js';
import { runCommandTool } from '../tools/run-command/run-command-tool.js';
import { writeFileTool } from '../tools/write-file/write-file-tool.js';
import { defineOwnTool } from './declare/define-tool.js';

/** Of single tools. */
export interface BuiltinToolsOptions {
  /** `[tools.list_directory]` */
  readonly listDirectory?: ListDirectoryOptions;
}

const RULES: OptionRules<{ listDirectory: ListDirectoryOptions | undefined }> = {
  listDirectory: option(undefined, isObject, 'an object'),
};

/**
 * The tools that toolexec brings along, new each time.
 * @throws ToolError `config_invalid` for a wrong or unknown option.
 */
export function builtinTools(options: BuiltinToolsOptions = {}): Tool[] {
  return ownTools(options, systemClock);
}

/** The same by another clock, which says when a file was read or written (D071). */
export function ownTools(options: BuiltinToolsOptions, clock: Clock): Tool[] {
  const { listDirectory } = normalizeOptions('builtinTools', options, RULES);
  const now = (): number => clock.now();
  return [
    defineOwnTool(applyPatchTool({ now })),
    defineOwnTool(bashTool()),
    defineOwnTool(bashOutputTool()),
    defineOwnTool(editFileTool({ now })),
    defineOwnTool(globTool()),
    defineOwnTool(grepTool()),
    defineOwnTool(killShellTool()),
    defineOwnTool(listDirectoryTool(listDirectory)),
    defineOwnTool(readFileTool({ now })),
    defineOwnTool(runCommandTool()),
    defineOwnTool(writeFileTool({ now })),
  ];
}
