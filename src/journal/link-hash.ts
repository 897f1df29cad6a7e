import { hash } from 'node:crypto';

/** The hash of one commit: over the one before it, which rows it added, and all they hold. Hexadecimal SHA-256. */
export function linkHash(previous: string, added: string, content: string): string {
  return sha256(`${previous}\n${added}\n${content}`);
}

/** Hexadecimal SHA-256 of a text's UTF-8. */
export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text);
}

/**
 * A row as the chain covers it. No text of ours holds a NUL and no text that may be null is ever empty, so together
 * with the table's name this tells all rows apart.
 */
export function rowContent(values: readonly unknown[]): string {
  return `${values.join('\0')}\0`;
}
