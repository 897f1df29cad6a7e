import { exactText, type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { runsUnseen } from '../report-effects.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { runCodeStream, runCodeWord, runRest } from './run-payload.js';

/** Options whose value is shell code. */
const codeBehind =
  (option: RegExp, isAlwaysAsked = false): Judge =>
  (call) => {
    const { words } = call;
    words.forEach((word, index) => {
      const match = option.exec(word.shown);
      if (match === null) return;
      const attached = match[1];
      const code =
        attached === undefined || attached === ''
          ? words[index + 1]
          : { ...literalField(attached), literal: word.literal };
      if (code === undefined) return;
      if (isAlwaysAsked) call.findings.ask(`${call.name} runs a command: ${code.shown}`);
      runCodeWord(call, code, call.scope.copy());
    });
    return UNKNOWN;
  };

/** Words that are commands of their own: `watch ls -l`, `hyperfine 'ls'`. */
const joinedCode =
  (spec: { short?: string; long?: readonly string[] }, separate = false): Judge =>
  (call) => {
    const { operands } = readOptions(call.words, { ...spec, stopsAtOperand: true });
    if (separate) for (const operand of operands) runCodeWord(call, operand, call.scope.copy());
    else if (operands.length > 0) runCodeWord(call, join(operands), call.scope.copy());
    return UNKNOWN;
  };

function join(words: readonly Field[]): Field {
  const pieces = words.flatMap((word, index) => [
    ...(index === 0 ? [] : literalField(' ').pieces),
    ...word.pieces,
  ]);
  return {
    pieces,
    shown: words.map(({ shown }) => shown).join(' '),
    literal: words.every(({ literal }) => literal),
  };
}

/** `at`, `batch`: the input is code that runs later. */
const judgeAt: Judge = (call) => {
  if (call.words.some(({ shown }) => /^-(?:l|r|d|c|f|V)/.test(shown))) return UNKNOWN;
  call.findings.ask(`${call.name} plans commands that run unasked.`);
  return runCodeStream(call, call.input, call.scope.copy());
};

/** `npx`, `npm exec`, `uv run`: the command behind them runs here. */
const judgeRunner: Judge = (call) => {
  const at = call.words.findIndex(({ shown }) => /^(?:run|exec|x)$/.test(shown));
  const isShort = call.name === 'npx' || call.name === 'bunx' || call.name === 'uvx' || call.name === 'pipx';
  const code = call.words.findIndex(({ shown }) => /^(?:-c|--call)$/.test(shown));
  const codeWord = code === -1 ? undefined : call.words[code + 1];
  if (codeWord !== undefined && /^np/.test(call.name)) return runCodeWord(call, codeWord, call.scope.copy());
  if (!isShort && call.words.some(({ shown }) => RUNS_SCRIPTS.test(shown))) runsUnseen(call.findings);
  if (at === -1 && !isShort) return UNKNOWN;
  const isExec =
    isShort ||
    call.words[at]?.shown === 'exec' ||
    /^(?:poetry|pipenv|uv|pdm|hatch|rye|conda|direnv|mise|asdf|op|doppler|dotenv|aws-vault)$/.test(call.name);
  if (!isExec) return UNKNOWN;
  const { operands } = readOptions(call.words.slice(at + 1), {
    short: 'pn',
    stopsAtOperand: true,
    long: ['package', 'with', 'python', 'from'],
  });
  return operands.length === 0 ? UNKNOWN : runRest(call, operands, call.scope.copy());
};

/** `npm test`: what stands in a file of the package is run; `npm install` runs what packages bring along. */
const RUNS_SCRIPTS =
  /^(?:run|run-script|test|t|start|stop|restart|exec|x|dlx|install|i|ci|add|rebuild|sync|build)$/;

/** `make`: a Makefile is a file like others, but `--eval`, `-f -` and variables can carry code. */
const judgeMake: Judge = (call) => {
  for (const word of call.words) {
    const text = exactText(word) ?? word.shown;
    if (
      /\$\(shell|^--eval|^-E|`/.test(text) ||
      (/^\w+[:+?]?=/.test(text) && /[$`;|&]/.test(text)) ||
      /^SHELL=/.test(text)
    ) {
      call.findings.ask(`make is given code: ${text}`);
      for (const [, code = ''] of text.matchAll(/\$\(shell ([^)]*)\)/g))
        call.shell.runText(code, call.scope.copy(), INHERITED);
    }
  }
  const file = call.words.findIndex(({ shown }) => /^(?:-f|--file|--makefile)$/.test(shown));
  if (/^(?:-|\/dev\/stdin)$/.test(call.words[file + 1]?.shown ?? '') && file !== -1)
    call.findings.ask('make reads its rules from the input.');
  if (!call.words.some(({ shown }) => /^(?:-n|--dry-run|--just-print|-v|--version|--help)$/.test(shown)))
    runsUnseen(call.findings);
  return UNKNOWN;
};

/** The loader runs the program it is given. */
export const judgeLoader: Judge = (call) => {
  const { operands } = readOptions(call.words, {
    stopsAtOperand: true,
    long: ['library-path', 'preload', 'argv0', 'audit', 'inhibit-rpath'],
  });
  return operands.length === 0 ? UNKNOWN : runRest(call, operands, call.scope.copy());
};

/** `tmux new 'code'`, `screen -dm command`, `start-stop-daemon --exec`. */
const judgeTerminal: Judge = (call) => {
  const { words } = call;
  const at = words.findIndex(({ shown }) =>
    /^(?:new|new-session|new-window|neww|split-window|splitw|run|run-shell|if-shell|send|send-keys|respawn-pane|display-popup|popup|pipe-pane|-dm\w*|-d|-m|-X|-e|-x|--exec|-a|--startas|--)$/.test(
      shown,
    ),
  );
  if (at === -1) return UNKNOWN;
  call.findings.ask(`${call.name} runs commands elsewhere.`);
  const rest = words.slice(at + 1);
  const { operands } = readOptions(rest, { short: 'snctFxySLT', stopsAtOperand: true });
  for (const operand of rest.filter(({ shown }) => /\s/.test(shown)))
    runCodeWord(call, operand, call.scope.copy());
  return operands.length > 0 ? runRest(call, operands, call.scope.copy()) : UNKNOWN;
};

const judgeIp: Judge = (call: Invocation) => {
  const at = call.words.findIndex(({ shown }) => shown === 'exec');
  return at === -1 ? UNKNOWN : runRest(call, call.words.slice(at + 2), call.scope.copy());
};

const runsRestAfter =
  (skip: number): Judge =>
  (call) => {
    const { operands } = readOptions(call.words, { stopsAtOperand: true });
    return operands.length > skip ? runRest(call, operands.slice(skip), call.scope.copy()) : UNKNOWN;
  };

const RUNNERS = [
  'npx',
  'npm',
  'pnpm',
  'yarn',
  'bunx',
  'uv',
  'uvx',
  'pipx',
  'poetry',
  'pipenv',
  'pdm',
  'hatch',
  'rye',
  'bundle',
  'conda',
  'direnv',
  'mise',
  'asdf',
  'dotenv',
];

const asksSpecial =
  (when: RegExp): Judge =>
  (call) => {
    const texts = [
      ...call.words.map(({ shown }) => shown),
      ...(call.input.kind === 'text' ? [call.input.text] : []),
    ];
    if (texts.some((text) => when.test(text))) call.findings.ask(`${call.name} runs a command of its own.`);
    return call.input.kind === 'text' ? UNKNOWN : call.input;
  };

export const OTHER_JUDGES: Judges = {
  ...Object.fromEntries(RUNNERS.map((name) => [name, judgeRunner])),
  watch: joinedCode({ short: 'n', long: ['interval'] }),
  hyperfine: joinedCode(
    { short: 'wrmMpcns', long: ['warmup', 'runs', 'prepare', 'cleanup', 'setup', 'export-json'] },
    true,
  ),
  concurrently: joinedCode({ short: 'ncp' }, true),
  entr: runsRestAfter(0),
  nodemon: codeBehind(/^(?:-x|--exec)(?:=(.*))?$/s, true),
  script: codeBehind(/^(?:-\w*c|--command(?:=(.*))?)$/s),
  split: codeBehind(/^--filter(?:=(.*))?$/s, true),
  sort: asksSpecial(/^--compress-prog/),
  psql: asksSpecial(/\\!|\bPROGRAM\b|\\(?:g|o|copy|w)\b/i),
  mysql: asksSpecial(/\\!|\bsystem\b|\\P/i),
  mariadb: asksSpecial(/\\!|\bsystem\b|\\P/i),
  sqlite3: asksSpecial(/\.(?:shell|system|load|import|output|once)\b|load_extension|writefile|\bedit\(/i),
  man: codeBehind(/^(?:-P|--pager(?:=(.*))?|-H)$/s, true),
  at: judgeAt,
  batch: judgeAt,
  make: judgeMake,
  gmake: judgeMake,
  tmux: judgeTerminal,
  screen: judgeTerminal,
  'start-stop-daemon': judgeTerminal,
  ip: judgeIp,
  gcc: codeBehind(/^-wrapper$/, true),
  dpkg: asksSpecial(/^--(?:pre|post)-invoke/),
  apt: asksSpecial(/::(?:Pre|Post)-Invoke|Pre-Install-Pkgs/),
  'apt-get': asksSpecial(/::(?:Pre|Post)-Invoke|Pre-Install-Pkgs/),
  ctags: asksSpecial(/^--options/),
  'run-parts': asksSpecial(/./),
  nmap: asksSpecial(/^--(?:script|interactive)/),
  tcpdump: asksSpecial(/^-z/),
  openssl: asksSpecial(/^-engine/),
  'ssh-keygen': asksSpecial(/^-D/),
};
