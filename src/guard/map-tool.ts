import { quoteWord } from '../base/quote-word.js';
import type { Effect } from '../contract/effect.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { OwnToolName } from '../executor/load-own-tool.js';
import { type AgentCall, isObject, NotUnderstood } from './document.js';

/** An agent's tool, described in our terms. */
export type MappedTool =
  | MappedCommand
  /** It does the same as one of our tools. */
  | {
      readonly kind: 'call';
      readonly name: OwnToolName;
      readonly args: JsonObject;
      /** The calls of our tools that describe the file changes. If absent: it changes no file. */
      readonly changes?: readonly FileChangeCall[];
      /** Patterns of the files whose content it shows. If absent: it names none. */
      readonly named?: readonly string[];
    }
  /** It reaches something other than files and commands, or names files in another way. */
  | {
      readonly kind: 'other';
      readonly effects: readonly Effect[];
      readonly args: JsonObject;
      readonly named?: readonly string[];
    }
  /** It touches only the agent itself, so the agent's own rules apply. */
  | { readonly kind: 'own' };

export interface MappedCommand {
  readonly kind: 'command';
  readonly command: string;
  /** If absent: the agent's working directory. */
  readonly cwd?: string;
  readonly inBackground: boolean;
  /** The input with another command; every other field is unchanged. */
  readonly withCommand: (command: string) => JsonObject;
}

/** A call of one of our file tools, or a file of which only the path is known before the call. */
export type FileChangeCall =
  | { readonly tool: OwnToolName; readonly args: JsonObject }
  | { readonly path: string };

type Mapper = (input: JsonObject) => MappedTool;

const own: Mapper = () => ({ kind: 'own' });
const reads =
  (name: OwnToolName, ...keys: readonly string[]): Mapper =>
  (input) => ({ kind: 'call', name, args: { path: pathIn(input, keys) ?? '.' } });

/** By the names of the three agents, in lower case. */
const MAPPERS: Readonly<Record<string, Mapper>> = {
  bash: command,
  shell: command,
  local_shell: command,
  shell_command: command,
  exec_command: command,
  run_shell_command: command,
  read: reads('read_file', 'file_path', 'path'),
  read_file: reads('read_file', 'file_path', 'absolute_path', 'path'),
  notebookread: reads('read_file', 'notebook_path'),
  view_image: reads('read_file', 'path'),
  ls: reads('list_directory', 'path'),
  list_dir: reads('list_directory', 'dir_path', 'path'),
  list_directory: reads('list_directory', 'dir_path', 'path'),
  glob: (input) => {
    const args = searchArgs(input);
    requireBelow('its pattern', input.pattern);
    return { kind: 'call', name: 'glob', args };
  },
  grep: searchesText,
  grep_files: searchesText,
  grep_search: searchesText,
  search_file_content: searchesText,
  read_many_files: manyReads,
  write: writes,
  write_file: writes,
  edit: edits,
  replace: edits,
  multiedit: manyEdits,
  notebookedit: (input) => {
    const path = requirePath(input, ['notebook_path']);
    return { kind: 'other', effects: [{ kind: 'write', path }], args: input };
  },
  apply_patch: patches,
  webfetch: (input) => fetches(input, input.url === undefined),
  // One version of it takes an address, another one finds all addresses in the prompt.
  web_fetch: (input) => fetches(input, true),
  websearch: searches,
  web_search: searches,
  google_web_search: searches,
  readmcpresourcetool: readsResource,
  readmcpresourcedirtool: readsResource,
  read_mcp_resource: readsResource,
  ...Object.fromEntries(
    [
      ...[
        'bashoutput',
        'taskoutput',
        'killshell',
        'killbash',
        'taskstop',
        'todowrite',
        'todoread',
        'write_todos',
      ],
      ...[
        'taskcreate',
        'taskget',
        'tasklist',
        'taskupdate',
        'exitplanmode',
        'enterplanmode',
        'askuserquestion',
      ],
      ...[
        'agent',
        'task',
        'skill',
        'slashcommand',
        'toolsearch',
        'update_plan',
        'request_user_input',
        'ask_user',
      ],
      ...['listmcpresources', 'list_mcp_resources', 'activate_skill', 'complete_task', 'enter_plan_mode'],
      ...['exit_plan_mode', 'get_internal_docs', 'sleep', 'update_topic', 'invoke_agent'],
      ...['structuredoutput', 'sendusermessage', 'listagents', 'reportfindings', 'proposegoal'],
      ...['readnotifications', 'waitformcpservers', 'listmcpresourcestool', 'list_mcp_resource_templates'],
      ...['create_task', 'update_task', 'get_task', 'list_tasks', 'add_dependency', 'visualize'].map(
        (name) => `tracker_${name}`,
      ),
    ].map((name) => [name, own]),
  ),
};

/**
 * Maps an agent's tool. An unknown tool can touch anything.
 * @throws NotUnderstood for a known tool with an input of another shape
 */
export function mapTool({ name, input }: Pick<AgentCall, 'name' | 'input'>): MappedTool {
  const known = name.toLowerCase();
  const mapper = Object.hasOwn(MAPPERS, known) ? MAPPERS[known] : undefined;
  if (mapper !== undefined) return mapper(input);
  const [, server, tool] = /^mcp_{1,2}(.+?)_{1,2}(.+)$/.exec(name) ?? [];
  if (server !== undefined && tool !== undefined)
    return { kind: 'other', effects: [{ kind: 'call', server, tool, access: 'destroy' }], args: input };
  return { kind: 'other', effects: [{ kind: 'unknown' }], args: input };
}

function command(input: JsonObject): MappedTool {
  const [key = 'command', ...others] = ['command', 'cmd'].filter((name) => input[name] !== undefined);
  if (others.length > 0) throw new NotUnderstood('it names a command twice: command and cmd');
  const { shell } = input;
  if (typeof shell === 'string' ? !SHELL.test(shell) : shell !== undefined && shell !== null)
    throw new NotUnderstood(
      `its shell ${JSON.stringify(shell)} is not one that toolexec knows: leave it out`,
    );
  const given = input[key];
  const text = typeof given === 'string' ? given : Array.isArray(given) ? fromWords(given) : undefined;
  if (text === undefined || text.trim() === '')
    throw new NotUnderstood('its command is missing, or is not a text');
  const cwd = pathIn(input, ['workdir', 'dir_path', 'directory', 'cwd']);
  return {
    kind: 'command',
    command: text,
    ...(cwd === undefined ? {} : { cwd }),
    inBackground: input.run_in_background === true || input.is_background === true,
    withCommand: (line) => ({ ...input, [key]: Array.isArray(given) ? ['bash', '-c', line] : line }),
  };
}

/** A file of a project may have the name of a shell. */
const SHELL = /^(?:\/(?:usr\/|usr\/local\/|opt\/homebrew\/|run\/current-system\/sw\/)?bin\/)?(?:ba|z|da)?sh$/;

/** `["bash", "-lc", "ls"]` is the command line `ls`. */
function fromWords(words: readonly JsonValue[]): string | undefined {
  if (words.length === 0 || !words.every((word) => typeof word === 'string')) return undefined;
  const [program = '', flag = '', line] = words;
  if (SHELL.test(program) && /^-\w*c$/.test(flag) && line !== undefined && words.length === 3) return line;
  return words.map(quoteWord).join(' ');
}

function writes(input: JsonObject): MappedTool {
  const path = requirePath(input, ['file_path', 'path']);
  const content = input.content ?? input.file_text;
  if (typeof content !== 'string') throw new NotUnderstood('its content is missing, or is not a text');
  return changing('write_file', { path, content, mode: 'overwrite' });
}

function edits(input: JsonObject): MappedTool {
  const path = requirePath(input, ['file_path', 'path']);
  const { old_string: before, new_string: after } = input;
  if (typeof before !== 'string' || typeof after !== 'string')
    throw new NotUnderstood('old_string or new_string is missing, or is not a text');
  // An empty text to replace means a new file.
  if (before === '') return changing('write_file', { path, content: after, mode: 'overwrite' });
  const all = input.replace_all === true || input.allow_multiple === true;
  return changing('edit_file', { path, old_string: before, new_string: after, replace_all: all });
}

function manyEdits(input: JsonObject): MappedTool {
  const path = requirePath(input, ['file_path', 'path']);
  const { edits: list } = input;
  if (!Array.isArray(list) || list.length === 0 || !list.every(isObject))
    throw new NotUnderstood('its edits are missing, or are not a list of objects');
  // The combined result of several edits is known only after the call.
  return {
    kind: 'call',
    name: 'write_file',
    args: { path, content: '', mode: 'overwrite' },
    changes: [{ path }],
  };
}

function patches(input: JsonObject): MappedTool {
  const [patch, ...others] = [input.patch, input.input, input.command].filter((one) => one !== undefined);
  if (typeof patch !== 'string' || others.length > 0)
    throw new NotUnderstood('its patch is missing, is not a text, or is given twice');
  return changing('apply_patch', { patch });
}

function changing(name: OwnToolName, args: JsonObject): MappedTool {
  return { kind: 'call', name, args, changes: [{ tool: name, args }] };
}

function fetches(input: JsonObject, inPrompt: boolean): MappedTool {
  const { url, prompt } = input;
  const named =
    inPrompt && typeof prompt === 'string' ? (prompt.match(/https?:\/\/[^\s"'<>)\]]+/g) ?? []) : [];
  const urls = [...(typeof url === 'string' ? [url] : []), ...named];
  if (urls.length === 0) throw new NotUnderstood('it names no address');
  return { kind: 'other', effects: urls.map((one) => ({ kind: 'fetch', url: one })), args: input };
}

function searches(input: JsonObject): MappedTool {
  return {
    kind: 'other',
    effects: [{ kind: 'call', server: 'web', tool: 'search', access: 'read' }],
    args: input,
  };
}

function readsResource(input: JsonObject): MappedTool {
  const { server } = input;
  if (typeof server !== 'string' || server === '')
    throw new NotUnderstood('its server is missing, or is not a text');
  return {
    kind: 'other',
    effects: [{ kind: 'call', server, tool: 'read_resource', access: 'read' }],
    args: input,
  };
}

function searchArgs(input: JsonObject): JsonObject {
  const { pattern } = input;
  if (typeof pattern !== 'string' || pattern === '')
    throw new NotUnderstood('its pattern is missing, or is not a text');
  const path = pathIn(input, ['path', 'dir_path']);
  return path === undefined ? { pattern } : { pattern, path };
}

function searchesText(input: JsonObject): MappedTool {
  const named = [input.glob, input.include, input.include_pattern].filter((one) => typeof one === 'string');
  return { kind: 'call', name: 'grep', args: searchArgs(input), named };
}

function manyReads(input: JsonObject): MappedTool {
  // Some versions read both.
  const named = [input.include, input.paths]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .filter((one) => typeof one === 'string');
  if (named.length === 0) throw new NotUnderstood('it names no paths');
  // A pattern reads below the directory before its first wildcard.
  const effects = named.map((one): Effect => {
    const start = one.replace(/[^/]*[*?[{].*$/, '');
    requireBelow('a path', one.slice(start.length));
    requirePlain('a path', start);
    return { kind: 'read', path: start || '.' };
  });
  return { kind: 'other', effects, args: input, named: named.filter((one) => /[*?[{]/.test(one)) };
}

/** If several keys name a path, versions of an agent differ in the one that they use. */
function pathIn(input: JsonObject, keys: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const key of keys) {
    const value = input[key];
    if (value === undefined || value === null || value === '') continue;
    if (typeof value !== 'string') throw new NotUnderstood(`${key} is not a text`);
    requirePlain(key, value);
    if (found !== undefined && found !== value) throw new NotUnderstood('it names two different paths');
    found = value;
  }
  return found;
}

/** Some agents replace `~` by the home directory, others do not. */
function requirePlain(what: string, path: string): void {
  if (/^~(?:\/|$)/.test(path)) throw new NotUnderstood(`${what} begins with ~: give the whole path`);
}

/** The search of some agents follows `..` out of the directory. */
function requireBelow(what: string, pattern: JsonValue | undefined): void {
  if (typeof pattern !== 'string') return;
  requirePlain(what, pattern);
  if (pattern.split('/').includes('..'))
    throw new NotUnderstood(`${what} has a part "..": name the directory instead`);
}

function requirePath(input: JsonObject, keys: readonly string[]): string {
  const path = pathIn(input, keys);
  if (path === undefined) throw new NotUnderstood(`${keys[0]} is missing`);
  return path;
}
