import { ToolError } from '../../errors/tool-error.js';

/** Whether a text is meant as the address of a database. */
export function isPostgresAddress(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** The place in messages: without user and password. @throws ToolError `config_invalid` for another address */
export function addressOf(url: string): string {
  const parsed = isPostgresAddress(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) {
    throw new ToolError(
      'config_invalid',
      'This is not an address of Postgres. Give "postgres://USER:PASSWORD@HOST:PORT/DATABASE".',
    );
  }
  const host = parsed.host || parsed.searchParams.get('host') || 'localhost';
  return `postgres://${host}${parsed.pathname}`;
}
