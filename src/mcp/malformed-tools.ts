import { SdkError, SdkErrorCode, specTypeSchemas, type Transport } from '@modelcontextprotocol/server';

/**
 * Tools of a list that cannot be called, with the reasons: by their names, or by their places in the list if they have
 * no usable name.
 */
export type MalformedTools = ReadonlyMap<string, string>;

/** The SDK refuses a whole list of tools if one of them is malformed. */
export function isMalformedList(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult;
}

const MOST_MALFORMED = 1_000;
const MOST_CHARACTERS = 200;

/** The lists of a connection as its server sends them. */
export interface SentLists {
  /** Tools that were removed, because the SDK would refuse their whole list. */
  readonly malformed: Map<string, string>;
  /** The names of tools that run only as a task. In revision 2026-07-28 the SDK removes that statement. */
  readonly tasks: Set<string>;
  /** Whether malformed tools are removed from each list before the SDK reads it. */
  isFiltered: boolean;
}

const sentOn = new WeakMap<Transport, SentLists>();

/** From now on, the lists that arrive on this connection are read here first. */
export function readSentLists(transport: Transport): SentLists {
  const known = sentOn.get(transport);
  const read = transport.onmessage;
  if (known !== undefined || read === undefined) return known ?? createLists();
  const lists = createLists();
  sentOn.set(transport, lists);
  transport.onmessage = (message, extra) => {
    const { result } = message as { readonly result?: unknown };
    if (isList(result)) {
      for (const tool of result.tools) if (isTask(tool)) lists.tasks.add(tool.name);
      if (lists.isFiltered)
        result.tools = result.tools.filter((tool, place) => isTool(tool, place, lists.malformed));
    }
    read.call(transport, message, extra);
  };
  return lists;
}

function createLists(): SentLists {
  return { malformed: new Map(), tasks: new Set(), isFiltered: false };
}

function isTask(tool: unknown): tool is { readonly name: string } {
  const { name, execution } = (tool ?? {}) as { readonly name?: unknown; readonly execution?: unknown };
  const { taskSupport } = (execution ?? {}) as { readonly taskSupport?: unknown };
  return taskSupport === 'required' && typeof name === 'string';
}

function isTool(tool: unknown, place: number, malformed: Map<string, string>): boolean {
  const read = specTypeSchemas.Tool['~standard'].validate(tool);
  if (!('issues' in read) || read.issues === undefined) return true;
  const [issue] = read.issues;
  const where = (issue?.path ?? []).join('.').slice(0, MOST_CHARACTERS);
  const why = `${where === '' ? '' : `${where}: `}${issue?.message ?? 'it is malformed'}`;
  // A server must not fill the memory with its mistakes.
  if (malformed.size < MOST_MALFORMED) malformed.set(nameOf(tool) ?? `number ${place + 1}`, why);
  return false;
}

function nameOf(tool: unknown): string | undefined {
  const { name } = (tool ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && name !== '' && name.length <= MOST_CHARACTERS ? name : undefined;
}

/** The results of calls have `content`, and may contain anything beside it. */
function isList(result: unknown): result is { tools: unknown[] } {
  return (
    typeof result === 'object' &&
    result !== null &&
    'tools' in result &&
    Array.isArray(result.tools) &&
    !('content' in result)
  );
}
