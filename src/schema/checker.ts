import type { JsonSchema } from '../contract/json.js';
import { showText } from './show-value.js';

/** One fault to repair. */
export interface CheckIssue {
  /** JSON Pointer of the faulty value; for a missing property, its place. */
  readonly path: string;
  readonly message: string;
}

export type CheckResult =
  /** `value` is passed to the tool: the checked value itself, or the output of a Standard Schema. */
  | { readonly ok: true; readonly value: unknown }
  /**
   * `message` is for the model: every fault with its path, the expected and the actual value, at most 1,500
   * characters.
   */
  | { readonly ok: false; readonly message: string; readonly issues: readonly CheckIssue[] };

/** Checks values against one schema. Synchronous, unless the schema itself is asynchronous. */
export interface Checker {
  check(value: unknown): CheckResult | Promise<CheckResult>;
  /** Checks the schema itself. @throws ToolError `config_invalid` */
  checkNow(): void;
  /** The schema for a model: a frozen copy, always the same object. */
  readonly jsonSchema: JsonSchema;
}

/** One fault in a value. */
export interface Finding {
  /** JSON Pointer of the value that the message describes; empty for the whole. */
  readonly path: string;
  /** JSON Pointer of the faulty value; for a missing property, its place. */
  readonly about: string;
  /** The expected and the actual value, or the missing or unknown property. */
  readonly message: string;
}

const MAX_MESSAGE_CHARACTERS = 1_500;
export const MAX_FINDINGS = 10;

/** `Invalid arguments for write_file: /mode: expected …; missing required property "content" (a string).` */
export function composeMessage(title: string, findings: readonly Finding[]): string {
  let text = '';
  let told = 0;
  for (const finding of findings.slice(0, MAX_FINDINGS)) {
    const next = `${told === 0 ? '' : '; '}${composeFinding(finding)}`;
    if (told > 0 && title.length + text.length + next.length > MAX_MESSAGE_CHARACTERS - 40) break;
    text += next;
    told++;
  }
  const untold = findings.length - told;
  const rest = untold > 0 ? `; and ${untold} more ${untold === 1 ? 'fault' : 'faults'}` : '';
  return `${title}: ${text}${rest}.`;
}

function composeFinding({ path, message }: Finding): string {
  const where = path === '' ? '' : `${showText(path, 200)}: `;
  return showText(`${where}${message}`, 1_000);
}

/** The purpose of a checker and its names in messages. */
export interface CheckerRole {
  readonly direction: 'input' | 'output';
  /** `Invalid arguments for write_file` */
  readonly title: string;
  /** `the input schema of write_file` */
  readonly owner: string;
}

export function refuse(title: string, findings: readonly Finding[]): CheckResult {
  const issues = findings.slice(0, MAX_FINDINGS).map(({ about, message }) => ({ path: about, message }));
  return { ok: false, message: composeMessage(title, findings), issues };
}

/** A schema that fails on a value has not accepted it. */
export function couldNotCheck(owner: string, error: unknown): Finding {
  const why = error instanceof RangeError ? 'it does not end' : 'it threw an error';
  return { path: '', about: '', message: `${owner} cannot check this value (${why})` };
}
