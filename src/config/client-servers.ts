import { dirname, resolve } from 'node:path';
import { ToolError } from '../errors/tool-error.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import { isWebAddress, type McpHeader, type McpServerSettings } from './mcp-servers.js';
import { readConfigFile } from './read-config-file.js';
import { type ClientPlace, referredVariable, translateReferences } from './server-references.js';

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
  { required, home }: { readonly required: boolean; readonly home: string },
): ClientServers | undefined {
  if (!required && entryStat(file) === undefined) return undefined;
  const { bytes } = readConfigFile(file, { acceptPipes: false });
  const document = parseJsonc(Buffer.from(bytes).toString('utf8'), file);
  const here = isTable(document.projects) ? document.projects[resolve('.')] : undefined;
  const { mcp } = document;
  const tables = [
    document.mcpServers,
    document.servers,
    // The settings of VS Code.
    isTable(mcp) ? mcp.servers : undefined,
    isTable(here) ? here.mcpServers : undefined,
  ];
  // The settings of Gemini CLI.
  const excluded = isTable(mcp) && isTexts(mcp.excluded) ? mcp.excluded : [];
  const servers: Record<string, McpServerSettings> = {};
  const notes: string[] = [];
  for (const [given, entry] of tables.flatMap((table) => (isTable(table) ? Object.entries(table) : []))) {
    const name = nameFrom(given);
    if (name === undefined) notes.push(`${JSON.stringify(given)} is not a usable name: left out`);
    else {
      if (name !== given) notes.push(`${JSON.stringify(given)} becomes ${name}`);
      const own = isTable(entry) && excluded.includes(given) ? { ...entry, disabled: true } : entry;
      const server = isTable(own) ? toServer({ name, place: { file, home }, notes }, own) : undefined;
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

/** The inputs for translating one entry. */
interface Entry {
  readonly name: string;
  readonly place: ClientPlace;
  readonly notes: string[];
}

function toServer(from: Entry, entry: Table): McpServerSettings | undefined {
  const { name, place, notes } = from;
  const { command, args, url, httpUrl, type, disabled, enabled, timeout, cwd, includeTools } = entry;
  const leftOut = (why: string): undefined => {
    notes.push(`${name} ${why}: left out`);
    return undefined;
  };
  if (disabled === true || enabled === false) return leftOut('is switched off there');
  const more = {
    ...(isTexts(includeTools) ? { tools: includeTools } : {}),
    ...(typeof timeout === 'number' && timeout >= 1 ? { timeoutMs: Math.round(timeout) } : {}),
  };
  for (const field of ['excludeTools', 'envFile', 'headersHelper'])
    if (entry[field] !== undefined) notes.push(`${name}: ${field} has no counterpart: set it by hand`);
  if (typeof command === 'string' && command !== '') {
    const words = [command, ...(isTexts(args) ? args : [])].map((word) => translate(from, word));
    if (!words.every((word) => word !== undefined))
      return leftOut('has a reference without a counterpart in its command');
    const [program = '', ...rest] = words;
    const folder = typeof cwd === 'string' ? translate(from, cwd) : undefined;
    if (folder?.includes('${') === true) return leftOut('has a variable in its directory');
    const env = envFrom(from, entry.env);
    return {
      command: program,
      ...(rest.length === 0 ? {} : { args: rest }),
      ...(env === undefined ? {} : { env }),
      ...(folder === undefined ? {} : { cwd: resolve(dirname(place.file), folder) }),
      ...more,
    };
  }
  const address = typeof httpUrl === 'string' ? httpUrl : url;
  if (typeof address !== 'string' || address === '') return leftOut('has neither a program nor an address');
  if (type === 'sse') return leftOut('speaks the older HTTP with SSE, which is not supported');
  const translated = translate(from, address);
  if (translated === undefined) return leftOut('has a reference without a counterpart in its address');
  if (!isWebAddress(translated) && !translated.includes('${env:'))
    return leftOut('has neither a program nor an address');
  const headers = headersFrom(from, entry.headers);
  return { url: translated, ...(headers === undefined ? {} : { headers }), ...more };
}

/** In our notation; undefined: it cannot be. @param variable for a value that the person is asked for */
function translate({ name, place, notes }: Entry, given: string, variable?: string): string | undefined {
  const translated = translateReferences(given, place, variable);
  for (const [input, taken] of translated?.asked ?? [])
    notes.push(
      `${name}: the value "${input}", which that client asks for, is read from the variable ${taken}`,
    );
  return translated?.text;
}

/** If every variable only passes on a variable of the same name, they are listed by name; otherwise a table of values. */
function envFrom(from: Entry, env: unknown): McpServerSettings['env'] {
  const kept = textsFrom(from, 'variable', env, (key) => key);
  if (kept.length === 0) return undefined;
  if (kept.every(([key, text]) => referredVariable(text) === key)) return kept.map(([key]) => key);
  return Object.fromEntries(kept);
}

function headersFrom(from: Entry, headers: unknown): McpServerSettings['headers'] {
  const kept = textsFrom(from, 'header', headers, () => undefined).map(([key, text]): [string, McpHeader] => {
    const variable = referredVariable(text);
    return [key, variable === undefined ? text : { env: variable }];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function textsFrom(
  from: Entry,
  kind: string,
  table: unknown,
  variableOf: (key: string) => string | undefined,
): readonly (readonly [string, string])[] {
  const entries = isTable(table) ? Object.entries(table).filter(isTextEntry) : [];
  return entries.flatMap(([key, given]) => {
    const text = translate(from, given, variableOf(key));
    if (text !== undefined) return [[key, text] as const];
    from.notes.push(
      `${from.name}: the ${kind} ${key} has a reference without a counterpart (${given}): left out, set it by hand`,
    );
    return [];
  });
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
