export type { CommandOutcome, CommandRequest, KeptOutput, RunCommand } from './contract/processes.js';
export { commandEnvironment } from './process/command-environment.js';
export { removedValues } from './process/removed-values.js';
export { type EnvironmentOptions, sanitizeEnvironment } from './process/sanitize-environment.js';
