export { createSandbox } from './files/create-sandbox.js';
export type { HardLinks, SandboxOptions, SandboxRoot } from './files/sandbox-options.js';
