import type { CommandAnalysis } from './analysis.js';
import { Interpreter, TooMuchWork } from './interpreter.js';
import { UNKNOWN } from './words/field.js';
import { Findings } from './words/findings.js';
import { Scope } from './words/scope.js';

/**
 * Analyzes a command by the grammar of the shell (F010, A007, B012–B016): what destroys the machine is
 * `block` in every spelling, what cannot be understood with certainty is `ask`, the rest is `allow`. Never
 * throws, and reads at most 64 KB: longer texts, NUL characters and deep nesting are `ask`.
 * @param shell the shell that runs the text. `bash`: bash. `sh`: any `sh`; what shells interpret differently
 * is `ask`. If absent: bash; if an `sh` would run other commands, that is `ask` too.
 */
export function analyzeCommand(text: string, shell?: 'bash' | 'sh'): CommandAnalysis {
  const findings = new Findings();
  if (typeof text !== 'string') {
    findings.ask('The command is not a text.');
    return findings.conclude();
  }
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
    findings.ask('Shells other than bash read it differently.');
  return findings.conclude();
}

/** Syntax that only bash knows. A POSIX shell (dash) reads it as words, strings or names of programs. */
const BASH_ALONE =
  /\[\[|(?<![$"'])\{(?=[^{}\s"',]*,|[^{}\s"'.]*\.\.)[^{}\s]*\}|(?<!\$|for )\(\(|\$\[|(?<![^\s=;&|({<>])\$["']|\w\+=|\{\w+\}[<>]|(?:^|[;&|({\n])\s*(?:pushd|popd|shopt|enable|coproc|function|time\s+(?:-(?!p\s)|\w+(?:=|\s*\()))/;

/**
 * The cases in which a POSIX shell would run other commands: `[[ a && reboot ]]`, `((reboot))`, `$'\'; reboot
 * #'`, `<<$'EOF'`.
 */
const RUNS_OTHERWISE =
  /\[\[[^\]]*(?:(?:&&|\|\||[;>])\s*(?![-!(\s])|=~\s*[^\s()]*\|)|(?<!\$)\(\(\s*["'\\$\w./~](?!\w*\s*(?:[-+*/%]?=|\+\+|--))|\$'(?:[^'\\]|\\[^'])*\\'|\$\[[^\]]*[;&|]|<<-?\s*\$["']|\btime\s+(?:\w+=|-(?!p\s))/;
