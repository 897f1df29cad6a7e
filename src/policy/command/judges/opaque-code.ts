import { exactText, knownText, literalField } from '../field.js';
import { judgeTarget } from '../judge-place.js';
import { readEffect } from '../report-effects.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { isVitalText } from './removal.js';

/** Which option of an interpreter carries code. */
const INTERPRETERS: Readonly<Record<string, RegExp>> = {
  python: /^-[bBdEhiIOqsSuvVx]*c$/,
  perl: /^-[\w]*[eE]$/,
  ruby: /^-[\w]*e$/,
  node: /^(?:-[pi]*e|-p|-pe|--eval|--print)$/,
  bun: /^(?:-e|-p|--eval|--print)$/,
  deno: /^eval$/,
  php: /^-[rBRE]$/,
  lua: /^-e$/,
  luajit: /^-e$/,
  Rscript: /^-e$/,
  R: /^-e$/,
  osascript: /^-e$/,
  pwsh: /^-(?:c|command|e|ec|encodedcommand)$/i,
  powershell: /^-(?:c|command|e|ec|encodedcommand)$/i,
  tclsh: /^-c$/,
  groovy: /^-e$/,
  scala: /^-e$/,
  elixir: /^(?:-e|--eval)$/,
  erl: /^-eval$/,
  guile: /^-c$/,
  julia: /^(?:-e|-E|--eval)$/,
  ghc: /^-e$/,
  jshell: /^-$/,
  emacs: /^--?eval$/,
  gdb: /^(?:-ex|--eval-command|-iex)$/,
  vim: /^(?:-c|--cmd)$/,
  nvim: /^(?:-c|--cmd)$/,
  vi: /^-c$/,
  ex: /^-c$/,
  expect: /^-c$/,
  ed: /^$/,
};

export const judgeInterpreter: Judge = (call) => {
  const option = INTERPRETERS[plainName(call.name)];
  const { words, findings, input } = call;
  const at = option === undefined ? -1 : words.findIndex((word) => option.test(word.shown));
  const attached = words.find(
    (word) =>
      /^(?:-e.|--(?:eval|print)=|-c.)/.test(word.shown) &&
      !/^-(?:c|e)$/.test(word.shown) &&
      exactText(word) !== undefined &&
      option?.test(word.shown.slice(0, 2)) === true,
  );
  const vimCommand = words.find((word) => /^\+./.test(word.shown) && /vim?|ex|less/.test(call.name));
  const code = at !== -1 ? words[at + 1] : (attached ?? vimCommand);
  if (code !== undefined) {
    findings.ask(`${call.name} runs code that is not judged: ${shorten(code.shown)}`);
    judgeCode(call, knownText(code));
    return UNKNOWN;
  }
  if (
    !words.every((word) => word.literal) &&
    !words.some((word) => word.literal && !word.shown.startsWith('-'))
  ) {
    if (words.length > 0) findings.ask(`What ${call.name} runs is computed.`);
  }
  const file = words.find((word) => !word.shown.startsWith('-'));
  if (file !== undefined && call.name !== 'deno' && call.name !== 'bun')
    readEffect(findings, file, call.scope);
  const isProgram = file === undefined || file.shown === '-' || /^\/dev\/(?:stdin|fd\/0)$/.test(file.shown);
  const asksOnly =
    words.length > 0 &&
    words.every(({ shown }) => /^--?(?:v|V|version|h|help|test|check|watch)$/.test(shown));
  if (!isProgram || asksOnly || words.some(({ shown }) => shown === '-m')) return UNKNOWN;
  findings.ask(`${call.name} runs code from its input.`);
  if (input.kind === 'text') judgeCode(call, input.text);
  if (input.kind === 'fetched')
    findings.block(`${call.name} would run what comes from the network unseen (${input.from}).`);
  return UNKNOWN;
};

/** `python3.12` is `python`. */
function plainName(name: string): string {
  if (/^python[\d.]*$|^pypy\d*$/.test(name)) return 'python';
  if (/^(?:perl|ruby|php|lua|node)[\d.]+$/.test(name)) return name.replace(/[\d.]+$/, '');
  return name === 'nodejs' ? 'node' : name;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

const CALLS_SHELL =
  /(?:\b(?:system|popen\d?|exec[lvpe]*|execSync|execFileSync|execFile|spawn\w*|subprocess\.\w+|run|call|check_call|check_output|getoutput|Popen|shell_exec|passthru|proc_open|qx|sh|shell|doShellScript|command)\s*\(?|!|`|%x|\bdo shell script)\s*[([{]?\s*/g;

/** Looks into code of other languages for what is certain: a shell command that breaks things, a tree that is removed. */
export function judgeCode(call: Invocation, code: string): void {
  const text = code.slice(0, MAX_CODE);
  let looked = 0;
  for (const match of text.matchAll(CALLS_SHELL)) {
    if (looked++ >= MAX_CALLS) break;
    const rest = text.slice(match.index + match[0].length);
    const command = match[0].includes('!')
      ? rest.split('\n')[0]
      : firstStrings(/[`{]$/.test(match[0].trimEnd()) ? match[0].trimEnd().slice(-1) + rest : rest);
    if (command !== undefined && command.trim() !== '') judgeQuietly(call, command);
  }
  judgeRemovals(call, text);
  if (
    /\bfork\s+while\s+fork\b|\bfork\s*(?:\(\s*\)\s*)?(?:&&|and)\s*fork\b|while\s*\(?\s*(?:1|True|true|:)?\s*\)?\s*[:{;]?\s*(?:do\s+)?(?:os\.)?fork\b|fork\s*(?:\(\))?\s+while\s+(?:1|true)|(?:loop|while)\b[^\n]{0,20}\bfork\b/.test(
      text,
    )
  ) {
    call.findings.block(`${call.name} would start processes without end.`);
  }
}

const MAX_CODE = 16_384;
const MAX_CALLS = 16;

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
  /\b(?:rmtree|rm_rf|rm_r|remove_dir_all|rimraf|rmSync|rmdirSync|rm|remove_tree|RemoveAll|delete_recursively|rmdir|unlink|unlinkSync|removeSync|emptyDirSync|walk|Remove-Item)\s*\(?\s*\[?\s*(?:-\w+\s+)*["']?([^"',)\s;]+)/g;

const OPENS =
  /\bopen(?:Sync)?\s*\(\s*["']([^"']+)["']\s*,\s*["']([^"']+)["']|\b(?:writeFile(?:Sync)?|createWriteStream|write_text|write_bytes|file_put_contents|File\.write)\s*\(\s*["']([^"']+)["']/g;

function judgeRemovals(call: Invocation, text: string): void {
  for (const [, path = ''] of text.matchAll(REMOVES)) {
    const isHome =
      /^(?:os\.path\.expanduser\(["']~|os\.homedir\(|Path\.home\(|process\.env\.HOME|~$|\$HOME$|ENV\[)/.test(
        path,
      );
    if (isHome || isVitalText(path))
      call.findings.block(`${call.name} would remove ${path} with all below it.`);
  }
  for (const [, opened, mode = '', written] of text.matchAll(OPENS)) {
    const path = written ?? (/[wa+x]/.test(mode) ? opened : undefined);
    if (path === undefined) continue;
    if (judgeTarget(literalField(path), call.scope.directory).kind === 'vital')
      call.findings.block(`${call.name} would overwrite ${path}.`);
  }
}

const NAMES = ['python', 'python2', 'python3', 'pypy', 'pypy3', 'nodejs', ...Object.keys(INTERPRETERS)];

export const OPAQUE_JUDGES: Judges = Object.fromEntries(NAMES.map((name) => [name, judgeInterpreter]));

/** `python3.11`, `perl5.36`. */
export function isInterpreter(name: string): boolean {
  return Object.hasOwn(INTERPRETERS, plainName(name));
}
