/** `toolexec/policy`: what may run, what must be asked, what is refused. */
export type { Policy, PolicyAnswer, PolicyQuestion } from './contract/policy.js';
export { analyzeCommand, type CommandAnalysis } from './policy/command/analyze-command.js';
export { createPolicy } from './policy/create-policy.js';
export type { PolicyMode, PolicyOptions } from './policy/policy-options.js';
