export { createSandbox } from './sandbox/create-sandbox.js';
export type { SandboxOptions } from './sandbox/sandbox-options.js';
