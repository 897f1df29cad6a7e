import { literalField } from '../field.js';
import { judgeTarget } from '../judge-place.js';
import type { Invocation } from '../shell.js';
import { INHERITED } from '../stream.js';
import { isVitalText } from './removal.js';
import { readStrings } from './string-literals.js';

/**
 * Looks into code of other languages for what is certain: a shell command that breaks things, a tree that is removed.
 * A text that is only printed breaks nothing, so that calls are looked for outside of strings.
 */
export function judgeCode(call: Invocation, code: string, depth = 0): void {
  const text = code.slice(0, MAX_CODE);
  const { bare, strings } = readStrings(text, RUNS_BACKQUOTES.test(call.name));
  judgeCalls(call, text, bare);
  // A command may come to such a call by way of a variable.
  const runsText = STARTS_COMMANDS.test(bare);
  for (const { content, isRun } of strings.slice(0, MAX_CALLS)) {
    if (runsText || isRun) judgeQuietly(call, content);
    if (depth < MAX_DEPTH && EVALUATES.test(bare)) judgeCode(call, content, depth + 1);
  }
  judgeRemovals(call, text, bare);
  if (FORKS_FOREVER.test(bare)) call.findings.block(`${call.name} would start processes without end.`);
}

const MAX_CODE = 16_384;
const MAX_CALLS = 16;
const MAX_DEPTH = 2;

/** Languages in which a text in backquotes is run. */
const RUNS_BACKQUOTES = /^(?:perl|ruby|php|lua)/;

const CALLS_SHELL =
  /(?:\b(?:system|popen\d?|exec[lvpe]*|execSync|execFileSync|execFile|spawn\w*|subprocess\.\w+|run|call|check_call|check_output|getoutput|Popen|shell_exec|passthru|proc_open|qx|sh|shell|doShellScript|command)\s*\(?|!|%x|\$|\bdo shell script)\s*[([{]?\s*/g;

const STARTS_COMMANDS =
  /\b(?:system|popen\w*|exec[lvpe]*|execSync|execFileSync|execFile|spawn\w*|getoutput|Popen|check_call|check_output|shell_exec|passthru|proc_open|doShellScript|do shell script)\b\s*(?:\(|["'@$\w])|\b(?:subprocess|child_process|Open3|Deno\.Command|Bun\.spawn\w*|os\.execute|Process\.spawn|Start-Process)\b/;

/** What takes a text for code of the same language. */
const EVALUATES =
  /\b(?:eval|exec|execfile|compile|Function|loadstring|load|instance_eval|runInNewContext|runInThisContext|Invoke-Expression|iex)\b\s*[(\s]/;

const FORKS_FOREVER =
  /\bfork\s+while\s+fork\b|\bfork\s*(?:\(\s*\)\s*)?(?:&&|and)\s*fork\b|while\s*\(?\s*(?:1|True|true|:)?\s*\)?\s*[:{;]?\s*(?:do\s+)?(?:os\.)?fork\b|fork\s*(?:\(\))?\s+while\s+(?:1|true)|(?:loop|while)\b[^\n]{0,20}\bfork\b/;

function judgeCalls(call: Invocation, text: string, bare: string): void {
  let looked = 0;
  for (const match of bare.matchAll(CALLS_SHELL)) {
    if (looked++ >= MAX_CALLS) break;
    const isLine = match[0].includes('!');
    // Only editors and debuggers run what stands behind a mark.
    if (isLine && !TAKES_MARKS.test(call.name)) continue;
    const rest = text.slice(match.index + match[0].length);
    const command = isLine
      ? rest.split('\n')[0]
      : firstStrings(/\{$/.test(match[0].trimEnd()) ? `{${rest}` : rest);
    if (command !== undefined && command.trim() !== '') judgeQuietly(call, command);
  }
}

const TAKES_MARKS = /^(?:n?vim?|ex|ed|gdb|less|emacs|ghc|jshell)$/;

/** `"a b"`, `['a', 'b']`: joined by spaces. */
function firstStrings(text: string): string | undefined {
  const strings = [];
  let rest = text;
  for (;;) {
    const match =
      /^\s*,?\s*(?:\[\s*|\(\s*)?[rbuf]?(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`|\{([^}]*)\}|\/([^/]*)\/)/.exec(
        rest,
      );
    if (match === null || strings.length >= 16) break;
    strings.push(match.slice(1).find((one) => one !== undefined) ?? '');
    rest = rest.slice(match[0].length);
  }
  return strings.length === 0 ? undefined : strings.join(' ').replaceAll(/\\(["'\\])/g, '$1');
}

/** The text was found by looking, so that what is not understood of it says nothing. */
function judgeQuietly(call: Invocation, text: string): void {
  call.shell.runText(text, call.scope.copy(), INHERITED);
}

const REMOVES =
  /\b(?:rmtree|rm_rf|rm_r|remove_dir_all|rimraf|rmSync|rmdirSync|rm|remove_tree|RemoveAll|delete_recursively|rmdir|unlink|unlinkSync|removeSync|emptyDirSync|walk|Remove-Item)\s*\(?\s*\[?\s*(?:-\w+\s+)*/g;

/** The home directory itself, and nothing in it. */
const NAMES_HOME =
  /^(?:os\.path\.expanduser\(\s*["']~\/?["']|(?:os\.homedir\(\)|Path\.home\(\)|process\.env\.HOME|ENV\[[^\]]*\]|Dir\.home|\$HOME|~)\s*["')\],;]|(?:~|\$HOME)\s*$)/;

const OPENS =
  /\b(?:open(?:Sync)?|writeFile(?:Sync)?|createWriteStream|write_text|write_bytes|file_put_contents|File\.write)\s*\(\s*/g;

function judgeRemovals(call: Invocation, text: string, bare: string): void {
  for (const match of bare.matchAll(REMOVES)) {
    const argument = text.slice(match.index + match[0].length);
    const path = /^["']?([^"',)\s;]+)/.exec(argument)?.[1] ?? '';
    if (NAMES_HOME.test(argument) || isVitalText(path))
      call.findings.block(`${call.name} would remove ${path} with all below it.`);
  }
  for (const match of bare.matchAll(OPENS)) {
    const [, path, mode] =
      /^["']([^"']+)["'](?:\s*,\s*["']([^"']+)["'])?/.exec(text.slice(match.index + match[0].length)) ?? [];
    const isWritten = !match[0].startsWith('open') || /[wa+x]/.test(mode ?? '');
    if (
      path !== undefined &&
      isWritten &&
      judgeTarget(literalField(path), call.scope.directory).kind === 'vital'
    )
      call.findings.block(`${call.name} would overwrite ${path}.`);
  }
}
