import type { Registry } from '../../contract/tool.js';
import { createRegistry } from './registry.js';

/** The module-wide registry, for programs whose tools register themselves when they are imported (A006). */
export const defaultRegistry: Registry = createRegistry();
