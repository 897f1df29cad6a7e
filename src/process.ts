export { commandEnvironment } from './commands/command-environment.js';
export {
  type EnvironmentOptions,
  removedValues,
  sanitizeEnvironment,
} from './commands/sanitize-environment.js';
export type { ShellOptions } from './commands/shell-manager.js';
export { ShellManager } from './commands/shell-manager.js';
export type { ShellProcess } from './commands/shell-process.js';
export type { GuardedPath, GuardedPaths } from './contract/files.js';
export type {
  CommandLimits,
  CommandOutcome,
  CommandRequest,
  CommandSandbox,
  Confinement,
  ExposedPort,
  KeptOutput,
  LimitHit,
  RunCommand,
  SandboxRefusal,
  ShellReading,
  ShellSnapshot,
  ShellStatus,
} from './contract/processes.js';
