import { exactText, knownText } from '../field.js';
import { readEffect, runsUnseen } from '../report-effects.js';
import type { Judge, Judges } from '../shell.js';
import { UNKNOWN } from '../stream.js';
import { judgeCode } from './judge-code.js';

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
    runsUnseen(findings);
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
  if (file !== undefined && RUNS_FILES.test(call.name)) runsUnseen(findings);
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

/** Editors open the file that they are given; these run it. */
const RUNS_FILES =
  /^(?:python|pypy|perl|ruby|node|bun|deno|php|lua|Rscript|osascript|pwsh|powershell|tclsh|groovy|scala|elixir|julia|expect)/;

/** `python3.12` is `python`. */
function plainName(name: string): string {
  if (/^python[\d.]*$|^pypy\d*$/.test(name)) return 'python';
  if (/^(?:perl|ruby|php|lua|node)[\d.]+$/.test(name)) return name.replace(/[\d.]+$/, '');
  return name === 'nodejs' ? 'node' : name;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

const NAMES = ['python', 'python2', 'python3', 'pypy', 'pypy3', 'nodejs', ...Object.keys(INTERPRETERS)];

export const OPAQUE_JUDGES: Judges = Object.fromEntries(NAMES.map((name) => [name, judgeInterpreter]));

/** `python3.11`, `perl5.36`. */
export function isInterpreter(name: string): boolean {
  return Object.hasOwn(INTERPRETERS, plainName(name));
}
