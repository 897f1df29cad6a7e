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
/** The malformed tools of each connection whose lists are filtered. */
const filtered = new WeakMap<Transport, Map<string, string>>();

/** Undefined: the lists of this connection reach the SDK as the server sends them. */
export function malformedIn(transport: Transport): Map<string, string> | undefined {
  return filtered.get(transport);
}

/** From now on, malformed tools are removed from each list that arrives on this connection, before the SDK reads it. */
export function removeMalformed(transport: Transport): void {
  const read = transport.onmessage;
  if (read === undefined || filtered.has(transport)) return;
  const malformed = new Map<string, string>();
  filtered.set(transport, malformed);
  transport.onmessage = (message, extra) => {
    const { result } = message as { readonly result?: unknown };
    if (isList(result)) result.tools = result.tools.filter((tool, place) => isTool(tool, place, malformed));
    read.call(transport, message, extra);
  };
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
