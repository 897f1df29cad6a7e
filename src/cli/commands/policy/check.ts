import { builtinTools } from '../../../executor/builtin-tools.js';
import { sanitize } from '../../../output/sanitize.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import type { CliContext } from '../../cli-context.js';
import type { PolicyOptions } from '../../define/define-policy.js';
import { createDisplay } from '../../display/display.js';
import { writeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';
import { configNotes, resolveSettings } from '../../resolve-settings.js';

/** `toolexec policy check`: the rules as they stand. @throws ToolError `config_invalid` for a rule that cannot be used */
export function checkPolicy(options: PolicyOptions, context: CliContext): ExitCode {
  const { stdio, env } = context;
  const resolved = resolveSettings(options, context);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of configNotes(resolved)) display.note(note);
  const { policy } = resolved.configuration.executor;
  const problems = createAnalyzingPolicy(policy).problems(builtinTools());
  const rules = Object.values(policy?.tiers ?? {}).flat().length;
  if (options.json === true) writeJson(stdio.stdout, { rules, problems });
  else
    stdio.stdout.write(
      problems.length === 0 ? `${rules} rules, and nothing wrong with them\n` : toLines(problems),
    );
  return problems.length === 0 ? 0 : 1;
}

function toLines(problems: readonly string[]): string {
  return problems.map((problem) => `${sanitize(problem, 'inline')}\n`).join('');
}
