export { createSandbox } from './sandbox/create-sandbox.js';
export type { HardLinks, SandboxOptions, SandboxRoot } from './sandbox/sandbox-options.js';
