import type { ValidateFunction } from 'ajv';

/**
 * Validators that the build compiled, by the text of their schema. The build puts those of our own tools here
 * (`scripts/compile-validators.ts`): loading ajv takes longer than everything else that most calls need. The
 * sources have none; ajv compiles all others.
 */
export const READY_MADE: Readonly<Record<string, ValidateFunction>> = {};
