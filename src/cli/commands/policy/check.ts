import type { Configuration } from '../../../config/configuration.js';
import { builtinTools } from '../../../executor/builtin-tools.js';
import { findPrograms } from '../../../external/find-programs.js';
import { sanitize } from '../../../output/sanitize.js';
import { createAnalyzingPolicy } from '../../../policy/create-analyzing-policy.js';
import type { KnownTool } from '../../../policy/explain/find-problems.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { writeJson } from '../../display/terminal-text.js';
import { configNotes, resolveSettings } from '../../resolve-settings.js';

/** The options of the `policy` commands, in commander's form. */
interface PolicyOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Reads the configuration, tests every rule with its own examples, and lists rules that can never match or that ' +
        'another rule always overrides. Marks rules that let the workspace run its own code.',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec policy check\n  toolexec policy check --config toolexec.toml --json\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 all is well; 1 a rule does nothing; 2 the configuration cannot be used.\n',
    )
    .action(async (options: PolicyOptions) => {
      finish(checkPolicy(options, context));
    });
};

/** `toolexec policy check`: the current rules. @throws ToolError `config_invalid` for an unusable rule */
export function checkPolicy(options: PolicyOptions, context: CliContext): ExitCode {
  const { stdio, env } = context;
  const resolved = resolveSettings(options, context);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of configNotes(resolved)) display.note(note);
  const { policy } = resolved.configuration.executor;
  const compiled = createAnalyzingPolicy(policy);
  const problems = compiled.problems(knownTools(resolved.configuration));
  const marks = compiled.marks();
  const rules = Object.values(policy?.tiers ?? {}).flat().length;
  if (options.json === true) writeJson(stdio.stdout, { rules, problems, marks });
  else {
    const found = problems.length === 0 ? [`${rules} rules, and nothing wrong with them`] : problems;
    stdio.stdout.write(toLines([...found, ...marks]));
  }
  return problems.length === 0 ? 0 : 1;
}

/**
 * The tools that rules can name: built-in ones, programs by their files, and every name that a rule gives to a tool of
 * a configured MCP server, because servers are not started here.
 */
function knownTools({ executor, external, mcp }: Configuration): readonly KnownTool[] {
  const programs = findPrograms(external?.directories ?? [], () => false);
  const prefixes = Object.keys(mcp?.servers ?? {}).map((server) => `${server}__`);
  const named = Object.values(executor.policy?.tiers ?? {}).flatMap((rules) =>
    rules.flatMap(({ tool = [] }) => tool),
  );
  const served = named.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  return [...builtinTools({ agents: true }), ...programs, ...served.map((name) => ({ name }))];
}

function toLines(lines: readonly string[]): string {
  return lines.map((line) => `${sanitize(line, 'inline')}\n`).join('');
}
