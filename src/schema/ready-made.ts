import type { ValidateFunction } from 'ajv';

/**
 * Validators that were compiled ahead, by the text of the schema. A build puts those of our own tools here
 * (`scripts/compile-validators.ts`): loading ajv takes longer than all that most calls need besides. The sources have
 * none, and what is not here ajv compiles.
 */
export const READY_MADE: Readonly<Record<string, ValidateFunction>> = {};
