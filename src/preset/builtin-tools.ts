import type { Tool } from '../contract/tool.js';
import { defineOwnTool } from '../engine/declare/define-tool.js';
import { bashTool } from '../tools/bash/bash-tool.js';
import { listDirectoryTool } from '../tools/list-directory/list-directory-tool.js';
import { readFileTool } from '../tools/read-file/read-file-tool.js';
import { runCommandTool } from '../tools/run-command/run-command-tool.js';
import { writeFileTool } from '../tools/write-file/write-file-tool.js';

/** The tools that toolexec brings along, new each time. */
export function builtinTools(): Tool[] {
  return [
    defineOwnTool(bashTool()),
    defineOwnTool(listDirectoryTool()),
    defineOwnTool(readFileTool()),
    defineOwnTool(runCommandTool()),
    defineOwnTool(writeFileTool()),
  ];
}
