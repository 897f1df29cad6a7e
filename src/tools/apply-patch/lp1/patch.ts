/** A parsed LP1 patch. Lines are text without their line ends; numbers of lines count from 1, in the patch. */
export interface Patch {
  readonly files: readonly FileSection[];
}

export interface FileSection {
  readonly path: string;
  readonly line: number;
  readonly operations: readonly Operation[];
}

export type Operation =
  | (Found & {
      readonly kind: 'replace' | 'insert_after' | 'insert_before';
      readonly lines: readonly string[];
    })
  | (Found & { readonly kind: 'erase' })
  | { readonly kind: 'append'; readonly line: number; readonly lines: readonly string[] }
  | { readonly kind: 'prepend'; readonly line: number; readonly lines: readonly string[] }
  | { readonly kind: 'final_newline'; readonly line: number; readonly present: boolean };

/** An operation at a place that is found by its lines. */
export interface Found {
  readonly line: number;
  readonly find: readonly string[];
  /** Which of several matches, from 1; left out: the only one. */
  readonly occurrence?: number;
}

/** As an operation is written in a patch. */
export const LETTERS = {
  replace: 'R',
  insert_after: 'I',
  insert_before: 'P',
  erase: 'E',
  append: 'T',
  prepend: 'B',
  final_newline: 'N',
} as const satisfies Record<Operation['kind'], string>;
