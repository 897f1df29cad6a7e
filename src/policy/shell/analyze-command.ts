import type { CommandAnalysis } from './analysis.js';
import { Interpreter, TooMuchWork } from './interpreter.js';
import type { Dialect } from './words/call.js';
import { INHERITED } from './words/field.js';
import { Findings } from './words/findings.js';
import { Scope } from './words/scope.js';

/**
 * Evaluates a command by the grammar of the shell (F010, A007, B012–B016): every spelling of what destroys the
 * machine is `block`, what cannot be understood for certain is `ask`, the rest `allow`. It never throws, and looks at
 * no more than 64 KB: longer texts, NUL characters and deep nesting are `ask`.
 * @param shell who reads the text. `bash`: bash. `sh`: some `sh`, bash or one that knows less; the strictest reading
 *   counts, and what any of them would run is told. Left out: as bash reads it, and what destroys the machine where
 *   any `sh` reads it is `block` too.
 */
export function analyzeCommand(text: string, shell?: Dialect): CommandAnalysis {
  const findings = new Findings();
  // What is too much for one look is asked about, and not looked at once more.
  const { mayReadOtherwise } = walk(text, findings, 'bash') ?? { mayReadOtherwise: false };
  const isReadByBash = shell === 'bash' && !/(?:^|[^\w.])(?:da|a)?sh(?![\w.])/.test(text);
  if (!mayReadOtherwise || isReadByBash) return findings.conclude();
  const other = shell === 'sh' ? findings : new Findings();
  walk(text, other, 'sh');
  if (other !== findings) findings.addBlocks(other);
  return findings.conclude();
}

function walk(text: string, findings: Findings, dialect: Dialect): Interpreter | undefined {
  const limits = { nodesLeft: MAX_NODES, nestedCharactersLeft: MAX_NESTED };
  const interpreter = new Interpreter(findings, limits, MAX_STEPS, dialect);
  try {
    interpreter.runText(text, new Scope(), INHERITED);
    return interpreter;
  } catch (error) {
    if (!(error instanceof TooMuchWork) && !(error instanceof RangeError)) {
      findings.ask('Cannot tell what would run: the analysis failed.');
    } else findings.ask('Cannot tell what would run: there is too much of it.');
    return undefined;
  }
}

const MAX_NODES = 20_000;
const MAX_NESTED = 131_072;
const MAX_STEPS = 10_000;
