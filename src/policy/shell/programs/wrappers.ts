import { type Call, evaluateVariable } from '../words/call.js';
import { Field, NUMBER, type Stream, textValue, UNKNOWN } from '../words/field.js';
import { type OptionSpec, Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import type { Program, Programs } from './program.js';

/** Where in its words a program has the command that it runs. */
export interface Wrapping extends OptionSpec {
  /** After these words and options. Left out: after the options. */
  readonly behind?: RegExp;
  /** This many words, or one matching word, come before it. */
  readonly before?: number | RegExp;
  /** `NAME=value` may come before it. */
  readonly assigns?: boolean;
  /** Without a command, it runs a shell on its input. */
  readonly shell?: RegExp;
  /** With such an option, it runs in another directory. */
  readonly moves?: RegExp;
}

/** @param options those that take a value */
const wrapper = (options = '', wrapping: Wrapping = {}, more: Program = {}): Program => ({
  options,
  leads: true,
  evaluate: (call, given) => unwrap(call, given, { options, ...wrapping }),
  ...more,
});

const UNSEEN: Program = { isUnseen: true, goesByDirectory: true };
const PACKAGE: Program = { goesByDirectory: true, obeys: /(?:^|\/)package\.json$/ };
const CALL = { c: 'code', call: 'code', command: 'code' } as const;
const PACKAGE_OPTIONS = 'pn package with python from';
const OUTPUT = { o: 'overwrite', output: 'overwrite' } as const;
const RUNS_SCRIPT =
  /^(?:run|run-script|test|t|start|stop|restart|exec|x|r|dlx|install|i|ci|add|rebuild|sync|build)$/m;

/** Programs that run a command given among their words. */
export const WRAPPERS: Programs = {
  'find gfind': { evaluate: evaluateFind },
  'fd fdfind': {
    options: 'dtTeEScjog type extension exclude size max-depth min-depth owner changed-within changed-before',
    verdicts: [['ask', /^-(?:\w*[xX]|-exec)|.[$\x60]/m, 'runs a command for what it finds']],
  },
  'xargs gxargs': {
    options: 'nPLsdEaRSIJ max-args max-procs max-lines max-chars delimiter eof arg-file process-slot-var',
    leads: true,
    evaluate: evaluateXargs,
  },
  parallel: { verdicts: [['ask', /^/, 'puts what comes in into code']] },
  watch: {
    options: 'n interval',
    leads: true,
    evaluate: (call, { operands }) => (operands.length === 0 ? UNKNOWN : call.runCode(Field.join(operands))),
  },
  man: { values: { P: 'command', H: 'command', pager: 'command' } },
  script: { values: { c: 'code', command: 'code' }, operands: ['overwrite'] },
  'tmux screen start-stop-daemon': {
    code: /^(?:new(?:-session|-window)?|neww|split(?:-window|w)|run(?:-shell)?|if-shell|-d|--)$/,
    verdicts: [['ask', /^(?!-?-?(?:ls|list|version|help|V|h)\b)/, 'runs commands of its own']],
  },
  'npx bunx uvx': wrapper(PACKAGE_OPTIONS, {}, { ...PACKAGE, values: CALL }),
  'npm pnpm yarn': wrapper(
    PACKAGE_OPTIONS,
    { behind: /^(?:(?!run\n).*\n)*?(?:exec|x|dlx)\n/ },
    { ...PACKAGE, values: CALL, isUnseen: RUNS_SCRIPT },
  ),
  'uv pipx poetry pipenv pdm hatch rye bundle conda asdf mise direnv dotenv': wrapper(
    `fe${PACKAGE_OPTIONS} env path`,
    { behind: /^(?:.*\n)*?(?:run|exec|x)\n(?:(?:\.|.*@.*|node)\n)?(?:--\n)?|^(?:.*\n)*?--\n/ },
    { isUnseen: RUNS_SCRIPT, goesByDirectory: true, values: CALL },
  ),
  make: {
    ...UNSEEN,
    isUnseen: /^(?!(?:.*\n)*(?:-n|--dry-run|--just-print|-v|--version|--help)(?:\n|$))/,
    verdicts: [
      ['ask', /\$\(shell|^--eval|^-E|\x60|^SHELL=|^\w+[:+?]?=.*[$;|&]/m, 'is given code'],
      ['ask', /^(?:-f|--file|--makefile)\n(?:-|\/dev\/stdin)$/m, 'reads its rules from the input'],
    ],
    obeys: /(?:^|\/)(?:GNU)?[Mm]akefile$|\.mk$/,
  },
  go: UNSEEN,
  sudo: wrapper(
    'ugpCTRDhrtU user group prompt close-from command-timeout chroot chdir host role type other-user',
    { assigns: true, shell: /^-(?:\w*[si]|-shell|-login)/m, moves: /^(?:D|R|chd|chr|i|login)/ },
  ),
  doas: wrapper('uC', { shell: /^-(?:\w*[si]|-shell|-login)/m }),
  env: wrapper(
    'uC unset chdir argv0',
    { assigns: true, moves: /^(?:C|ch)/ },
    { values: { S: 'command', 'split-string': 'command' } },
  ),
  command: wrapper('', {}, { harmless: /^-[vV]/ }),
  exec: wrapper('a'),
  'nice ionice runcon numactl chrt taskset stdbuf choom setpriv': wrapper(
    'ntrlumNCpiceoTPDUbdfk/ adjustment class classdata input output error reuid regid groups inh-caps',
    { before: /^(?:\d+|0x\w+|[\d,-]+)$/ },
  ),
  timeout: wrapper('ks kill-after signal', { before: 1 }),
  time: wrapper('f format', {}, { values: OUTPUT }),
  'strace ltrace': wrapper('aAeDEFIlnpOPsSuXbwx trace', {}, { values: OUTPUT }),
  perf: wrapper('eoprtIFcCGmx event output repeat', { behind: /^(?:stat|record|trace|mem|lock|sched)\n/ }),
  chroot: wrapper(' userspec groups', { before: 1, shell: /^/, moves: /^/ }),
  'unshare nsenter': wrapper('SGRwt setuid setgid root wd map-user map-group target', {
    shell: /^/,
    moves: /^/,
  }),
  flock: wrapper('wE timeout wait conflict-exit-code', { before: 1 }),
  'systemd-run pkexec fakeroot sshpass xvfb-run ld-linux': wrapper(
    'uptHMEfsieP unit property uid gid working-directory setenv on-active on-calendar user library-path preload',
    { moves: /^/ },
  ),
  setarch: wrapper('', { before: /^(?:linux\d\d|i\d86|x86_64|uname26|(?:aarch|arm|ppc|riscv)\w*)$/ }),
  'gosu su-exec setuidgid': wrapper('', { before: 1 }),
  'builtin nohup setsid unbuffer valgrind rlwrap busybox toybox xterm': wrapper(),
  'su runuser sg': {
    options: 'ugGs',
    values: { c: 'command', command: 'command', 'session-command': 'command' },
    verdicts: [['ask', /^/, 'runs commands as another user']],
  },
  'kubectl oc': wrapper('', { behind: /^(?:.*\n)*?exec\n(?:.*\n)*?--\n/ }, { isUntold: true }),
  ip: wrapper('', { behind: /^(?:.*\n)*?exec\n/, before: 1 }),
  'docker podman nerdctl docker-compose': wrapper(
    'euwvm env env-file user workdir detach-keys index volume mount',
    { behind: /^(?:(?:-.*|compose|container)\n)*exec\n/, before: 1 },
    {
      isUntold: true,
      verdicts: [
        [
          'ask',
          /^--privileged|^--pid=host|docker\.sock|^(?:-v\n|--volume[=\n]|--mount[=\n].*(?:source|src)=)\/(?:\w+\/?)*:/m,
          'gives a container what lies outside',
        ],
      ],
    },
  ),
};

/** Finds the command after the wrapper's options. A word that is not clearly an option is `ask`. */
export function unwrap(call: Call, given: Options, wrapping: Wrapping): Stream {
  const { name, scope } = call;
  const { options: spec = '', behind, before, assigns = false, shell, moves } = wrapping;
  const [lead] = behind?.exec(`${call.shown}\n`) ?? [];
  if (behind !== undefined && lead === undefined) return UNKNOWN;
  const words = lead === undefined ? call.words : call.words.slice(lead.split('\n').length - 1);
  const options = lead === undefined ? given : new Options(words, { options: spec, leads: true });
  const isMarked = assigns && options.operands[0]?.shown === '-';
  const operands = options.operands.slice(isMarked ? 1 : 0);
  const head = words.slice(0, words.length - operands.length);
  const settings: string[] = [];
  const rest = assigns ? skipAssignments(call, operands, settings) : operands;
  const isBefore = typeof before === 'object' && before.test(rest[0]?.shown ?? '');
  const skipped = typeof before === 'number' ? before : Number(isBefore);
  // An unknown word may be the command, or an option that takes it as a value.
  if (
    head.some(({ literal, shown }) => !literal && shown.startsWith('-')) ||
    rest.slice(0, skipped).some(({ hasPattern, isComputed }) => hasPattern || isComputed)
  )
    call.ask(`The words before the command of ${name} are computed.`);
  const command = rest.slice(skipped);
  // `flock FILE -c CODE`
  const code = /^(?:-c|--command)$/.test(command[0]?.shown ?? '') ? command[1] : undefined;
  if (code !== undefined) return call.runCode(code);
  // Some treat a single word as code: `xterm -e 'CODE'`, `pnpm -c exec 'CODE'`.
  const [only, ...more] = command;
  if (only !== undefined && more.length === 0 && /\s/.test(only.known)) call.runText(only.known);
  if (only === undefined)
    return shell?.test(head.map(({ shown }) => shown).join('\n')) === true ? call.runStream() : UNKNOWN;
  // `command rm` and `builtin cd` skip functions, and change the shell that runs them.
  const isOwn = name === 'command' || name === 'builtin';
  if (isOwn) scope.functions.clear();
  const isMoved = moves?.test('') === true || options.given.some((one) => moves?.test(one.name));
  const inner = isOwn ? scope : scope.copy();
  if (isMoved) inner.directory = undefined;
  return call.runRest(command, inner, call.input, settings);
}

/**
 * Whatever comes before the `=`: `BASH_FUNC_ls%%=() { …; }` is passed on too, and so is `=1`, which has no
 * name.
 */
function skipAssignments(call: Call, words: readonly Field[], settings: string[]): readonly Field[] {
  for (const [at, word] of words.entries()) {
    const equals = word.shown.indexOf('=');
    if (equals === -1) return words.slice(at);
    const name = word.shown.slice(0, equals);
    const { value } = word.dropPrefix(equals + 1);
    evaluateVariable(call, name, value);
    settings.push(`${name}=${value.kind === 'text' ? value.text : '?'}`);
    call.findings.walks([word]);
    call.scope.variables.set(name, UNKNOWN);
  }
  return [];
}

/** `find START… TESTS ACTIONS`. */
function evaluateFind(call: Call): Stream {
  const { words, findings, scope } = call;
  const isOption = ({ shown }: Field) => /^-(?:[HLP]|O\d|D)/.test(shown);
  const at = words.findIndex((word) => /^(?:-[A-Za-z]|[!(),])/.test(word.shown) && !isOption(word));
  const expression = at === -1 ? [] : words.slice(at);
  const given = words.slice(0, at === -1 ? words.length : at).filter((word) => !isOption(word));
  const starts = given.length === 0 ? [Field.of('.')] : given;
  const vital = isNarrow(expression) ? undefined : starts.find((one) => call.dangerOfTree(one) === 'vital');
  const removes = () => {
    if (vital !== undefined) call.block(`find would remove what is below ${vital.shown}.`);
    else if (starts.some((start) => call.dangerOfTree(start) !== 'ordinary'))
      call.ask(`find removes files below ${starts.map(({ shown }) => shown).join(' ')}.`);
  };
  for (const start of starts) call.touches('read', start);
  if (given.some((word) => word.mayBeOptions)) call.ask('The words of find are computed.');
  expression.forEach(({ shown, literal, isComputed }, index) => {
    const next = expression[index + 1];
    if (!literal && isComputed) call.ask(`An expression of find is computed: ${shown}`);
    if (shown === '-delete') {
      for (const start of starts) call.touches('delete', start);
      removes();
    } else if (/^-(?:exec|ok)(?:dir)?$/.test(shown)) {
      const command = commandIn(expression.slice(index + 1));
      const [name] = command;
      if (!REMOVES.test(name?.shown ?? ''))
        for (const start of starts) findings.touches('read', start, scope);
      if (command.some(({ exact }) => exact === undefined)) call.ask('A command of find is computed.');
      // `{}` stands for each starting directory one after the other; a restricted search only asks, because
      // its results are not known.
      const inner = scope.copy();
      if (shown.endsWith('dir')) inner.directory = undefined;
      for (const start of vital === undefined ? [Field.of('./{}')] : starts)
        call.runRest(
          command.map((word) => fillPlace(word, '{}', start)),
          inner.copy(),
          UNKNOWN,
        );
      if (command.some((word) => REMOVES.test(word.shown))) removes();
    } else if (/^-f(?:printf?0?|ls)$/.test(shown) && next !== undefined) call.overwrite(next, UNKNOWN);
  });
  // The directory that a following `| xargs rm` would hit.
  const root = vital ?? (starts.length === 1 ? starts[0] : undefined);
  return root === undefined || (root !== vital && call.dangerOfTree(root) !== 'ordinary')
    ? UNKNOWN
    : { kind: 'listing', root: pathText(root, scope.directory) };
}

const REMOVES = /(?:^|\/)(?:rm|unlink|shred|srm|rmdir|truncate)$/;

/** Whether the expression selects only some of the names. */
function isNarrow(expression: readonly Field[]): boolean {
  return expression.some(
    ({ shown }, index) => NARROWING.test(shown) && !/^\*+$/.test(expression[index + 1]?.shown ?? ''),
  );
}

const NARROWING =
  /^-i?(?:name|path|wholename|regex|lname)$|^-(?:newer\w*|inum|samefile|user|group|nouser|nogroup|mtime|mmin|ctime|cmin|atime|amin|empty|size|xtype|perm)$/;

function commandIn(rest: readonly Field[]): readonly Field[] {
  const end = rest.findIndex(
    ({ shown }, at) => shown === ';' || (shown === '+' && rest[at - 1]?.shown === '{}'),
  );
  return end === -1 ? rest : rest.slice(0, end);
}

/** Replaces a placeholder in a word by text; code that contains it is no longer known. */
function fillPlace(word: Field, place: string, by: Field): Field {
  if (place === '' || !word.shown.includes(place)) return word;
  return word.shown === place ? by : new Field([UNKNOWN], word.shown);
}

/** `xargs COMMAND`: with the input after its words, or in place of `{}`. */
function evaluateXargs(call: Call, { operands: command, given }: Options): Stream | undefined {
  const { words, input, findings } = call;
  const [first] = command;
  const head = words.slice(0, words.length - Math.max(0, command.length - 1));
  if (head.some(({ exact }) => exact === undefined)) call.ask('The options of xargs are computed.');
  if (first === undefined) return input;
  const replaces = given.findLast(({ name }) => /^(?:[IiJ]|replace)$/.test(name));
  const place = replaces === undefined ? '' : (replaces.value?.shown ?? '{}');
  const lists = input.kind === 'listing';
  if (lists && call.isVital(input.root, '.') && REMOVES.test(first.shown))
    call.block(`${first.shown} would remove what ${input.root} holds.`);
  if (lists && !REMOVES.test(first.shown)) call.readsBelow(input.root);
  const line =
    input.kind === 'text' ? Field.of(input.text.split('\n')[0] ?? '', false) : new Field([UNKNOWN], '…');
  const fed =
    replaces === undefined
      ? [...command, ...arrivals(call)]
      : command.map((word) => fillPlace(word, place, line));
  findings.walks(command);
  return call.runRest(fed, call.scope.copy(), UNKNOWN);
}

/** The words of the input: known ones as they are, others as unknown. */
function arrivals(call: Call): readonly Field[] {
  const { input } = call;
  if (input.kind === 'text') {
    const texts = input.text.split(/[\s\0]+/).filter((text) => text !== '');
    return texts.slice(0, 64).map((text) => Field.of(text.replaceAll(/["'\\]/g, ''), false));
  }
  if (input.kind === 'listing' && !call.isVital(input.root, '.'))
    return [new Field([textValue(`${input.root}/x`), NUMBER], `${input.root}/…`)];
  return [new Field([{ kind: 'unknown', numeric: false, splits: true, from: input }], '…')];
}
