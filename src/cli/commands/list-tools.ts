import type { ToolsOptions } from '../define/define-tools.js';
import type { ExitCode } from '../exit-code.js';
import { type OfferedTool, offeredTools } from '../offered-tools.js';
import { settleConfig } from '../settle-config.js';
import { inColumns } from '../show/in-columns.js';
import { createPalette } from '../show/palette.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec tools list`: every tool of the command. */
export function listTools(options: ToolsOptions, surroundings: Surroundings): ExitCode {
  const { stdout } = surroundings.stdio;
  const offered = offeredTools(settleConfig(options, surroundings).configuration);
  if (options.json === true) {
    writeJson(stdout, offered.map(toJson));
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, surroundings.env);
  const rows = offered.map(({ tool, consent }) => [
    tool.name,
    tool.category,
    consent,
    firstSentence(tool.description),
  ]);
  const [head = '', ...lines] = inColumns([['TOOL', 'KIND', 'CONSENT', 'WHAT IT DOES'], ...rows]).split('\n');
  stdout.write([palette.dim(head), ...lines].join('\n'));
  return 0;
}

function toJson({ tool, consent, reason }: OfferedTool): unknown {
  const { name, title, aliases, category, description } = tool;
  return { name, title, aliases, category, consent, reason, description };
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0].replace(/\s+/g, ' ') ?? text;
}
