import type { ToolDefinition } from '../../contract/tool.js';
import { type NativeResult, writeNative } from '../native/write.js';
import type { Provider } from '../provider.js';
import { createFenceAssembler, isProse, readFences } from './read.js';

/** Reads prose with ```tool blocks; writes our own result objects, because text has no place for results. */
export const fenced = {
  recognizes: (input) => typeof input === 'string' && isProse(input),
  idOf: () => undefined,
  read: (input) => readFences(input),
  textOf: (input) => (typeof input === 'string' ? input : ''),
  createAssembler: () => createFenceAssembler(),
  write: (results) => writeNative(results),
  describe: describeFenced,
} satisfies Provider<NativeResult[], string>;

const PROTOCOL = `You can use tools. To use one, write a block like this, its fences on lines of their own:

\`\`\`tool
{"name": "<tool>", "args": {"<argument>": "<value>"}, "reason": "<why>"}
\`\`\`

- A block holds one JSON object: "name" and "args" are required, "reason" may be left out.
- It is strict JSON: double quotes, no comments, no trailing commas, a line end in a string as \\n.
- Several blocks are several calls; they run in order. End your answer after the last block: the results come next.`;

/** Text for the system prompt of a model without native tools: the protocol, then each tool (A021–A024). */
function describeFenced(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return '';
  return [PROTOCOL, 'The tools:', ...tools.map(describeOne)].join('\n\n').concat('\n');
}

function describeOne({ name, description, inputSchema }: ToolDefinition): string {
  const said = description.trim();
  return [`## ${name}`, ...(said === '' ? [] : [said]), `args: ${JSON.stringify(inputSchema)}`].join('\n');
}
