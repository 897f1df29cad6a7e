import type { Call } from '../words/call.js';
import { Field, type Stream, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { codesBehind, type Programs } from './program.js';

const STARTS_TERMINAL =
  /^(?:new|new-session|new-window|neww|split-window|splitw|run|run-shell|if-shell|send|send-keys|respawn-pane|display-popup|popup|pipe-pane|-dm\w*|-d|-m|-X|-e|-x|--exec|-a|--startas|--)$/m;

/** Programs of developers that run commands: package managers, build tools, terminals, timers. */
export const RUNNER_PROGRAMS: Programs = {
  'npx bunx uvx pipx npm pnpm yarn uv poetry pipenv pdm hatch rye bundle conda direnv mise asdf dotenv': {
    goesByDirectory: true,
    obeys: /(?:^|\/)package\.json$/,
    also: evaluateRunner,
  },
  'make gmake': {
    goesByDirectory: true,
    obeys: /(?:^|\/)(?:GNU)?[Mm]akefile$|\.mk$/,
    when: [
      ['ask', /\$\(shell|^--eval|^-E|`|^SHELL=|^\w+[:+?]?=.*[$;|&]/m, 'is given code'],
      ['ask', /^(?:-f|--file|--makefile)\n(?:-|\/dev\/stdin)$/m, 'reads its rules from the input'],
    ],
    also(call) {
      if (!/^(?:-n|--dry-run|--just-print|-v|--version|--help)$/m.test(call.shown))
        call.findings.runsUnseen();
    },
  },
  watch: {
    short: 'n',
    long: 'interval',
    leads: true,
    also: (call, { operands }) => (operands.length === 0 ? UNKNOWN : call.runCode(Field.join(operands))),
  },
  hyperfine: {
    short: 'wrmMpcns',
    long: 'warmup runs prepare cleanup setup',
    leads: true,
    operands: ['code'],
  },
  concurrently: { short: 'ncp', leads: true, operands: ['code'] },
  nodemon: { codeBehind: /^(?:-x|--exec)(?:=(.*))?$/s },
  script: { options: { 'c command': 'code' }, operands: ['overwrite'] },
  split: {
    short: 'abClntn',
    operands: ['read', 'write'],
    codeBehind: /^--filter(?:=(.*))?$/s,
  },
  patch: {
    short: 'pFdBDgVYz',
    options: { 'i input': 'read', 'o output r reject-file': 'overwrite' },
    operands: ['overwrite', 'read'],
  },
  man: { codeBehind: /^(?:-[PH](.*)|--(?:pager|html)(?:=(.*))?)$/s },
  'gcc g++ cc c++ clang clang++': {
    options: { o: 'make' },
    codeBehind: /^(?:-wrapper|-B(.*)|--?specs=(.*)|-fuse-ld=(\W.*))$/s,
    also: (call) => writesBehind(call, /^-(?:MF|MJ)(.*)$/s),
  },
  go: {
    goesByDirectory: true,
    codeBehind: /^--?(?:exec|toolexec|vettool)(?:=(.*))?$/s,
    also(call) {
      call.findings.runsUnseen();
      writesBehind(call, /^--?(?:o|\w*profile|trace|outputdir)(?:=(.*))?$/s);
    },
  },
  'at batch': {
    harmless: /^-(?:l|r|d|c|f|V)/m,
    when: [['ask', /^/, 'plans commands that run unasked']],
    also: (call) => call.runStream(),
  },
  'tmux screen start-stop-daemon': {
    when: [['ask', STARTS_TERMINAL, 'runs commands elsewhere']],
    codeBehind: /^(?:new(?:-session|-window)?|neww|split(?:-window|w)|run(?:-shell)?|if-shell|-d|--)$/,
  },
};

/** Files that stand behind an option of several letters. */
function writesBehind(call: Call, option: RegExp): void {
  call.words.forEach((word, at) => {
    for (const file of codesBehind(call.words.slice(at, at + 2), option).slice(
      0,
      option.test(word.shown) ? 1 : 0,
    ))
      call.findings.byOption(word.shown, () => call.overwrite(file));
  });
}

/** `npm test`: what stands in a file of the package is run; `npm install` runs what packages bring along. */
const RUNS_SCRIPTS =
  /^(?:run|run-script|test|t|start|stop|restart|exec|x|dlx|install|i|ci|add|rebuild|sync|build)$/m;

const TAKES_FROM_OPTIONS = /^--(?:script-shell|node-options|userconfig|globalconfig|shell|git)(?:=|$)/m;

/** Their `run` takes a command, and not the name of a script. */
const RUN_IS_EXEC = /^(?:poetry|pipenv|uv|pdm|hatch|rye|conda|direnv|mise|asdf|dotenv)$/;

/** `npx`, `npm exec`, `uv run`: the command behind them runs here. */
function evaluateRunner(call: Call): Stream {
  const { words, name } = call;
  const find = (word: RegExp) => words.findIndex(({ shown }) => word.test(shown));
  const code = /^np/.test(name) ? find(/^(?:-c|--call)$/) : -1;
  const [text] = code === -1 ? [] : words.slice(code + 1);
  if (text !== undefined) return call.runCode(text);
  const isShort = /^(?:npx|bunx|uvx|pipx)$/.test(name);
  if (!isShort && RUNS_SCRIPTS.test(call.shown)) call.findings.runsUnseen();
  if (TAKES_FROM_OPTIONS.test(call.shown))
    call.ask(`${name} takes a program or its settings from its options.`);
  const at = find(/^(?:run|exec|x)$/);
  const isExec = isShort || (at !== -1 && (words[at]?.shown === 'exec' || RUN_IS_EXEC.test(name)));
  const rest = new Options(words.slice(at + 1), {
    short: 'pn',
    leads: true,
    long: 'package with python from',
  }).operands;
  return isExec ? call.runRest(rest) : UNKNOWN;
}
