import { dirname, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import type { McpHeader, McpServerSettings } from './mcp-servers.js';
import { readConfigFile } from './read-config-file.js';

export interface ClientServers {
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  /** The servers and settings that were left out, with the reasons. */
  readonly notes: readonly string[];
}

/**
 * The MCP servers in the configuration file of another client: `mcpServers` of Claude Code, Cursor and Gemini
 * CLI, `servers` of VS Code; for Claude Code's own file also the servers of the current directory. Undefined
 * if there is no such file.
 * @throws ToolError `config_invalid` for a file that cannot be read, or is not JSON
 */
export function readClientServers(
  file: string,
  { required }: { readonly required: boolean },
): ClientServers | undefined {
  if (!required && entryStat(file) === undefined) return undefined;
  const { bytes } = readConfigFile(file, { acceptPipes: false });
  const document = parseJsonc(Buffer.from(bytes).toString('utf8'), file);
  const here = isTable(document.projects) ? document.projects[resolve('.')] : undefined;
  const tables = [document.mcpServers, document.servers, isTable(here) ? here.mcpServers : undefined];
  const servers: Record<string, McpServerSettings> = {};
  const notes: string[] = [];
  for (const [given, entry] of tables.flatMap((table) => (isTable(table) ? Object.entries(table) : []))) {
    const name = nameFrom(given);
    if (name === undefined) notes.push(`${JSON.stringify(given)} is not a usable name: left out`);
    else {
      if (name !== given) notes.push(`${JSON.stringify(given)} becomes ${name}`);
      const server = isTable(entry) ? toServer(name, entry, dirname(file), notes) : undefined;
      if (server !== undefined) servers[name] = server;
    }
  }
  return { servers, notes };
}

function nameFrom(given: string): string | undefined {
  const name = given
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/__+/g, '_')
    .replace(/^[_-]+|[_-]+$/g, '')
    .slice(0, 32)
    .replace(/_+$/, '');
  return name === '' ? undefined : name;
}

type Table = Readonly<Record<string, unknown>>;

function toServer(
  name: string,
  entry: Table,
  folder: string,
  notes: string[],
): McpServerSettings | undefined {
  const { command, args, url, httpUrl, type, disabled, timeout, cwd } = entry;
  if (disabled === true) {
    notes.push(`${name} is switched off there: left out`);
    return undefined;
  }
  const address = typeof httpUrl === 'string' ? httpUrl : url;
  if (typeof command === 'string' && command !== '') {
    const env = envFrom(name, entry.env, notes);
    return {
      command,
      ...(isTexts(args) && args.length > 0 ? { args } : {}),
      ...(env === undefined ? {} : { env }),
      ...(typeof cwd === 'string' ? { cwd: resolve(folder, cwd) } : {}),
      ...timeoutFrom(timeout),
    };
  }
  if (typeof address !== 'string' || !/^https?:\/\//.test(address) || !URL.canParse(address)) {
    notes.push(`${name} has neither a program nor an address: left out`);
    return undefined;
  }
  if (type === 'sse') {
    notes.push(`${name} speaks the older HTTP with SSE, which is not supported: left out`);
    return undefined;
  }
  const headers = headersFrom(name, entry.headers, notes);
  return { url: address, ...(headers === undefined ? {} : { headers }), ...timeoutFrom(timeout) };
}

function timeoutFrom(timeout: unknown): { readonly timeoutMs?: number } {
  return typeof timeout === 'number' && timeout >= 1 ? { timeoutMs: Math.round(timeout) } : {};
}

/** `${NAME}` and `${env:NAME}`, in the notation of these clients. */
const REFERENCE = /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/;

/** A variable that only passes on a variable of the same name is listed by name; all others are values. */
function envFrom(name: string, env: unknown, notes: string[]): McpServerSettings['env'] {
  const entries = isTable(env) ? Object.entries(env).filter(isTextEntry) : [];
  if (entries.length === 0) return undefined;
  if (entries.every(([key, value]) => REFERENCE.exec(value)?.[1] === key)) return entries.map(([key]) => key);
  const kept = entries.filter(([key, value]) => {
    if (!value.includes('${')) return true;
    notes.push(`${name}: the variable ${key} refers to another (${value}): left out, set it by hand`);
    return false;
  });
  return Object.fromEntries(kept);
}

function headersFrom(name: string, headers: unknown, notes: string[]): McpServerSettings['headers'] {
  const entries = isTable(headers) ? Object.entries(headers).filter(isTextEntry) : [];
  if (entries.length === 0) return undefined;
  const kept = entries.flatMap(([key, value]): [string, McpHeader][] => {
    const variable = REFERENCE.exec(value)?.[1];
    if (variable !== undefined) return [[key, { env: variable }]];
    if (!value.includes('${')) return [[key, value]];
    notes.push(
      `${name}: the header ${key} holds a variable within a text (${value}): left out, set it by hand`,
    );
    return [];
  });
  return Object.fromEntries(kept);
}

/** JSON with comments and trailing commas, as editors write it. */
function parseJsonc(text: string, file: string): Table {
  const plain = text.replace(/^\u{feff}/u, '');
  let document: unknown;
  try {
    document = JSON.parse(plain);
  } catch {
    try {
      document = JSON.parse(withoutComments(plain));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new ToolError('config_invalid', `Cannot read "${file}": it is not JSON: ${why}.`, {
        cause: error,
      });
    }
  }
  if (isTable(document)) return document;
  throw new ToolError('config_invalid', `Cannot read "${file}": an object was expected.`);
}

/** Strings are unchanged: a comment sign inside a string is not a comment. */
function withoutComments(text: string): string {
  return text
    .replace(
      /("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g,
      (_, quoted: string | undefined) => quoted ?? ' ',
    )
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, quoted: string | undefined) => quoted ?? '');
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === 'string';
}
