import type { CommandAnalysis } from './analysis.js';
import { Interpreter, TooMuchWork } from './interpreter.js';
import { UNKNOWN } from './words/field.js';
import { Findings } from './words/findings.js';
import { Scope } from './words/scope.js';

/**
 * Evaluates a command by the grammar of the shell (F010, A007, B012–B016): every spelling of what destroys the
 * machine is `block`, what cannot be understood for certain is `ask`, the rest `allow`. It never throws, and looks at
 * no more than 64 KB: longer texts, NUL characters and deep nesting are `ask`.
 * @param shell who reads the text. `bash`: bash. `sh`: some `sh`; what others than bash read or do in another way is
 *   asked about. Left out: as bash reads it, and where any `sh` would run other commands it is `ask` too.
 */
export function analyzeCommand(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  const findings = new Findings();
  const limits = { nodesLeft: 20_000, nestedCharactersLeft: 131_072 };
  try {
    new Interpreter(findings, limits, 10_000).runText(text, new Scope(), UNKNOWN);
  } catch (error) {
    const isTooMuch = error instanceof TooMuchWork || error instanceof RangeError;
    findings.ask(
      `Cannot tell what would run: ${isTooMuch ? 'there is too much of it' : 'the analysis failed'}.`,
    );
  }
  const mayBeSh = shell === undefined || /(?:^|[^\w.])(?:da|a)?sh(?![\w.])/.test(text);
  if (shell === 'sh' ? BASH_ALONE.test(text) : mayBeSh && RUNS_OTHERWISE.test(text))
    findings.ask('Other shells than bash read it in another way.');
  return findings.conclude();
}

/** What only bash knows, and a POSIX shell (dash) takes for words, strings or the names of programs. */
const BASH_ALONE =
  /\[\[|(?<![$"'])\{(?=[^{}\s"',]*,|[^{}\s"'.]*\.\.)[^{}\s]*\}|(?<!\$|for )\(\(|\$\[|(?<![^\s=;&|({<>])\$["']|\w\+=|\{\w+\}[<>]|(?:^|[;&|({\n])\s*(?:pushd|popd|shopt|enable|coproc|function|time\s+(?:-(?!p\s)|\w+(?:=|\s*\()))/;

/** Of these, where other commands would run: `[[ a && reboot ]]`, `((reboot))`, `$'\'; reboot #'`, `<<$'EOF'`. */
const RUNS_OTHERWISE =
  /\[\[[^\]]*(?:(?:&&|\|\||[;>])\s*(?![-!(\s])|=~\s*[^\s()]*\|)|(?<!\$)\(\(\s*["'\\$\w./~](?!\w*\s*(?:[-+*/%]?=|\+\+|--))|\$'(?:[^'\\]|\\[^'])*\\'|\$\[[^\]]*[;&|]|<<-?\s*\$["']|\btime\s+(?:\w+=|-(?!p\s))/;
