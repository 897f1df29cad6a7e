import { resolve } from 'node:path';
import { Option } from 'commander';
import { showPath } from '../../../base/show-setting.js';
import {
  TEMPLATE_LANGUAGES,
  type TemplateLanguage,
  TOOL_TEMPLATES,
} from '../../../external/tool-templates.js';
import { writeNewFiles } from '../../../platform/fs/write-new-files.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';

interface InitOptions {
  readonly lang: TemplateLanguage;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description('Writes a working tool and its test, as a start. Replaces nothing.')
    .argument('<dir>', 'the directory, created if needed')
    .addOption(
      new Option('--lang <language>', 'the language of the tool')
        .choices(TEMPLATE_LANGUAGES)
        .makeOptionMandatory(),
    )
    .addHelpText('before', 'Examples:\n  toolexec tools init ./tools --lang python\n')
    .action((directory: string, options: InitOptions) => {
      finish(initTool(directory, options, context));
    });
};

/** `toolexec tools init DIR --lang L`. @throws UsageError */
export function initTool(directory: string, { lang }: InitOptions, { stdio }: CliContext): ExitCode {
  if (directory === '') throw new UsageError('Cannot write a tool to "": name a directory.');
  const { files, next } = TOOL_TEMPLATES[lang];
  const taken = write(directory, files);
  if (taken !== undefined)
    throw new UsageError(`Cannot write "${taken}": it is there already. Name another directory.`);
  for (const { path } of files) stdio.stdout.write(`${path}\n`);
  stdio.stderr.write(`toolexec: next, in "${showPath(directory)}": ${next.join('; ')}\n`);
  return 0;
}

function write(directory: string, files: Parameters<typeof writeNewFiles>[1]): string | undefined {
  try {
    return writeNewFiles(resolve(directory), files);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot write to "${directory}": ${why}.`, { cause: error });
  }
}
