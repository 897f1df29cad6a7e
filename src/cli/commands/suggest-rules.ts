import { toml } from '../../config/toml.js';
import { createExecutor } from '../../executor/create-executor.js';
import type { PolicyRecordOptions } from '../define/define-policy.js';
import type { ExitCode } from '../exit-code.js';
import { readRecordedCalls } from '../input/read-recorded-calls.js';
import { settlePlanning } from '../settle-planning.js';
import { writeJson } from '../show/write-json.js';
import { type ApprovedCall, proposeRules, type Suggestion } from '../suggest/propose-rules.js';
import type { Surroundings } from '../surroundings.js';

/**
 * `toolexec policy suggest`: rules that would have allowed what has been approved and went well, each exactly as it was.
 * Only calls that the configuration, as it stands, asks about; never what removes, and never what is not understood.
 * @throws UsageError, ToolError `config_invalid`
 */
export async function suggestRules(
  source: string | undefined,
  options: PolicyRecordOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdio } = surroundings;
  const { executor: settings, display } = settlePlanning(options, surroundings);
  const recorded = (await readRecordedCalls(source, options, surroundings)).filter(
    ({ succeeded }) => succeeded,
  );
  await using executor = createExecutor(settings);
  const approved: ApprovedCall[] = [];
  for (const { call } of recorded) {
    const [planned] = (await executor.plan([call])).calls;
    if (planned?.disposition === 'requires_confirmation') approved.push({ call, effects: planned.effects });
  }
  const suggestions = proposeRules(approved);
  if (options.json === true) writeJson(stdio.stdout, suggestions);
  else stdio.stdout.write(suggestions.map(toToml).join('\n'));
  display.note(
    suggestions.length === 0
      ? `of ${recorded.length} calls that went well, there is none that a rule should allow`
      : `${suggestions.length} rules: look at each before you put it into a configuration, then: toolexec policy check`,
  );
  return 0;
}

function toToml({ rule, times }: Suggestion): string {
  const count = times === 1 ? 'once' : `${times} times`;
  return `# approved ${count}\n${toml().stringify({ tools: { approval: { rules: [rule] } } })}`;
}
