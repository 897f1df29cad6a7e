import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { TOOL_NAMES } from '../tool-names.js';

export interface BashOutputArgs {
  readonly bash_id: string;
  readonly filter?: string;
}

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['bash_id'],
  properties: {
    bash_id: {
      type: 'string',
      pattern: '\\S',
      description: 'The bash_id that bash gave when it started the background shell.',
    },
    filter: {
      type: 'string',
      description:
        'A regular expression: only lines that it matches are shown, the others cannot be read any more.',
    },
  },
} as const;

/** `bash_output` (B021–B027, C024): what a background shell has printed since it was read last. */
export function bashOutputTool(): ToolSpec<BashOutputArgs> {
  return {
    name: 'bash_output',
    aliases: TOOL_NAMES.bash_output,
    title: 'Read Background Output',
    description:
      'Returns what a background shell has printed since the last call, standard error after a line "[stderr]", and ' +
      'whether it is still running.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    touches: ['process'],
    effects: ({ bash_id }) => [{ kind: 'process', id: bash_id, access: 'read' }],
    summarize: ({ bash_id }) => `Read the output of background shell ${bash_id}`,
    execute: readOutput,
  };
}

const readOutput = onFirstUse(async () => (await import('./read-output.js')).readOutput);
