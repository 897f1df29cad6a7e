export { applyPatch } from './tools/apply-patch/lp1/apply-patch.js';
export type { FileSection, Found, Operation, Patch } from './tools/apply-patch/lp1/parse-patch.js';
export { parsePatch } from './tools/apply-patch/lp1/parse-patch.js';
