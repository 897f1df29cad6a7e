import { ToolError } from '../errors/tool-error.js';
import type { TextPlace } from './place-of.js';

/** One thing that is wrong with what a source says. */
export interface ConfigProblem {
  /** What `source` is: `the configuration`. */
  readonly noun: string;
  /** `toolexec.toml`, `TOOLEXEC_TOOLS_MODE`. */
  readonly source: string;
  readonly place?: TextPlace;
  /** Made only for problems that are told. */
  readonly message: () => string;
}

/** More problems than anybody reads; a file of a megabyte can have a hundred thousand. */
const MAX_TOLD = 50;

/** The first problem in a line, and how many more there are; in `details.problems` each (fifty at most). */
export function configInvalid(problems: readonly ConfigProblem[]): ToolError {
  const told = problems.slice(0, MAX_TOLD).map((problem) => `${sourceOf(problem)}: ${problem.message()}`);
  const more = problems.length - 1;
  const rest = more > 0 ? ` And ${more} more ${more === 1 ? 'problem' : 'problems'}.` : '';
  const noun = problems[0]?.noun ?? 'the configuration';
  return new ToolError('config_invalid', `Cannot use ${noun} ${told[0] ?? ''}${rest}`, {
    details: { problems: told, count: problems.length },
  });
}

function sourceOf({ source, place }: ConfigProblem): string {
  return place === undefined ? source : `${source}:${place.line}:${place.column}`;
}
