import type { Tool } from '../contract/tool.js';
import { systemClock } from '../platform/clock/clock.js';
import type { BuiltinToolsOptions } from './builtin-tools.js';
import { defineOwnTool } from './declare/define-tool.js';

type Load = (options: BuiltinToolsOptions) => Promise<Tool>;

const now = (): number => systemClock.now();

const LOADERS = {
  apply_patch: async () =>
    defineOwnTool((await import('../tools/apply-patch/apply-patch.js')).applyPatchTool({ now })),
  bash: async ({ bash }) => defineOwnTool((await import('../tools/bash.js')).bashTool(bash)),
  edit_file: async () => defineOwnTool((await import('../tools/edit-file.js')).editFileTool({ now })),
  glob: async () => defineOwnTool((await import('../tools/glob.js')).globTool()),
  grep: async () => defineOwnTool((await import('../tools/grep.js')).grepTool()),
  list_directory: async ({ listDirectory }) =>
    defineOwnTool(
      (await import('../tools/list-directory/list-directory.js')).listDirectoryTool(listDirectory),
    ),
  read_file: async () =>
    defineOwnTool((await import('../tools/read-file/read-file.js')).readFileTool({ now })),
  write_file: async () => defineOwnTool((await import('../tools/write-file.js')).writeFileTool({ now })),
} as const satisfies Readonly<Record<string, Load>>;

/** The built-in tools that correspond to tools of other agents. */
export type OwnToolName = keyof typeof LOADERS;

/** One built-in tool, without loading the others. */
export function loadOwnTool(name: OwnToolName, options: BuiltinToolsOptions = {}): Promise<Tool> {
  return LOADERS[name](options);
}
