/**
 * The names that the built-in tools answer to (F001). The canonical name is the key; a rule about a tool holds
 * for every name of its row, and results carry the name that was called.
 */
export const TOOL_NAMES = {
  read_file: ['Read', 'file_read'],
  write_file: ['Write', 'file_write'],
  edit_file: ['Edit', 'edit'],
  apply_patch: [],
  list_directory: [],
  glob: ['Glob'],
  grep: ['Grep'],
  run_command: [],
  bash: ['Bash'],
  bash_output: ['BashOutput'],
  kill_shell: ['KillShell'],
} as const satisfies Record<string, readonly string[]>;
