import type { RawCall } from '../raw-call.js';
import { describeValue, isRecord, quote } from '../unknown-value.js';
import type { Item } from './read.js';

/** `apply_patch_call`: its operation as patch text. */
export function readApplyPatchCall({ call_id: id, operation }: Item): RawCall {
  const known = { id, name: 'apply_patch', origin: { item: 'apply_patch_call' } } as const;
  const body = toBody(operation);
  if (typeof body === 'string') return { ...known, problem: body };
  const patch = ['*** Begin Patch', ...body.lines, '*** End Patch', ''].join('\n');
  return { ...known, args: { patch }, argsField: 'operation' };
}

/** The lines between begin and end, or the fault. */
function toBody(operation: unknown): { readonly lines: readonly string[] } | string {
  if (!isRecord(operation)) return `"operation" is ${describeValue(operation)}, an object was expected.`;
  const { type, path, diff } = operation;
  if (typeof path !== 'string' || path.trim() === '') {
    return `"path" is ${describeValue(path)}, the path of a file was expected.`;
  }
  // In a patch, a path is the rest of its line.
  if (path !== path.trim() || /[\r\n]/.test(path)) {
    return `"path" is ${quote(path)}: a path with blanks at its ends, or with a line end, cannot stand in a patch.`;
  }
  if (type === 'delete_file') return { lines: [`*** Delete File: ${path}`] };
  if (type !== 'create_file' && type !== 'update_file') {
    return `"type" is ${describeValue(type)}, "create_file", "update_file" or "delete_file" was expected.`;
  }
  if (typeof diff !== 'string') return `"diff" is ${describeValue(diff)}, a string was expected.`;
  return type === 'create_file' ? toAddition(path, diff) : toUpdate(path, diff);
}

function toAddition(path: string, diff: string): { readonly lines: readonly string[] } | string {
  const lines = toLines(diff);
  const wrong = lines.findIndex((line) => !line.startsWith('+'));
  if (wrong !== -1) {
    return `line ${wrong + 1} of "diff" is ${quote(lines[wrong] ?? '')}: to create a file, every line begins with "+".`;
  }
  return { lines: [`*** Add File: ${path}`, ...lines] };
}

function toUpdate(path: string, diff: string): { readonly lines: readonly string[] } | string {
  const lines = toLines(diff);
  if (lines.length === 0) return '"diff" is empty: at least one changed line was expected.';
  const wrong = lines.findIndex((line) => !isUpdateLine(line));
  if (wrong !== -1) {
    return `line ${wrong + 1} of "diff" is ${quote(lines[wrong] ?? '')}: lines begin with " ", "+", "-" or "@@".`;
  }
  const header = lines[0]?.startsWith('@@') === true ? [] : ['@@'];
  // An empty line is an empty context line that lost its blank.
  const whole = lines.map((line) => (line === '' ? ' ' : line));
  return { lines: [`*** Update File: ${path}`, ...header, ...whole] };
}

/** No line may be read as another operation, which the call does not contain. */
function isUpdateLine(line: string): boolean {
  return line === '' || /^(?:[ +-]|@@)/.test(line) || line.trimEnd() === '*** End of File';
}

function toLines(diff: string): string[] {
  const text = diff.endsWith('\n') ? diff.slice(0, -1) : diff;
  return text === '' ? [] : text.split('\n');
}
