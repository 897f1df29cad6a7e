export type {
  CommandLimits,
  CommandOutcome,
  CommandRequest,
  CommandWall,
  Confinement,
  Denial,
  GuardedPath,
  GuardedPaths,
  KeptOutput,
  LimitHit,
  RunCommand,
  ShellReading,
  ShellSnapshot,
  ShellStatus,
} from './contract/processes.js';
export { commandEnvironment } from './process/command-environment.js';
export { removedValues } from './process/removed-values.js';
export { type EnvironmentOptions, sanitizeEnvironment } from './process/sanitize-environment.js';
export { ShellManager } from './process/shell-manager.js';
export type { ShellOptions } from './process/shell-options.js';
export type { ShellProcess } from './process/shell-process.js';
