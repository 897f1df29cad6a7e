import { type Call, evaluateVariable } from '../words/call.js';
import { Field, NUMBER, type Stream, textValue, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import { evaluateUnknown, type Program, type Programs } from './program.js';

/** The position of the command that a program runs among the program's words, after its options. */
interface Wrapping {
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
  evaluate: (call, given) => unwrap(call, given, wrapping),
  ...more,
});

/** Runs the value of an option, in any position. */
const code = (options: string): Program => ({
  options,
  evaluate(call, { given }) {
    for (const { name, value } of given)
      if (value !== undefined && TAKES_CODE.test(name)) call.runAskedCode(value);
  },
});

/** Programs that run a command given among their words. */
export const WRAPPERS: Programs = {
  find: { evaluate: evaluateFind },
  xargs: {
    options: 'nPLsdEaRSIJ max-args max-procs max-lines max-chars delimiter eof arg-file process-slot-var',
    leads: true,
    evaluate: evaluateXargs,
  },
  watch: {
    options: 'n interval',
    leads: true,
    evaluate: (call, { operands }) => (operands.length === 0 ? UNKNOWN : call.runCode(Field.join(operands))),
  },
  sudo: wrapper(
    'ugpCTRDhrtU user group prompt close-from command-timeout chroot chdir host role type other-user',
    { assigns: true, shell: /^-(?:\w*[si]|-shell|-login)/m, moves: /^(?:D|R|chd|chr|i|login)/ },
  ),
  doas: wrapper('uC', { shell: /^-(?:\w*[si]|-shell|-login)/m }),
  env: wrapper('uCS unset chdir argv0 split-string', { assigns: true, moves: /^(?:C|ch)/ }),
  command: wrapper('', {}, { harmless: /^-[vV]/ }),
  exec: wrapper('a'),
  'nice ionice choom chrt taskset stdbuf setpriv': wrapper(
    'ntcioep adjustment class classdata input output error',
    {
      before: /^(?:\d+|0x\w+|[\d,-]+)$/,
    },
  ),
  time: wrapper('fo format output'),
  'timeout flock gosu su-exec': wrapper('kswE kill-after signal timeout wait', { before: 1 }),
  chroot: wrapper(' userspec groups', { before: 1, shell: /^/, moves: /^/ }),
  'unshare nsenter': wrapper('SGRwt setuid setgid root wd target', { shell: /^/, moves: /^/ }),
  'strace ltrace': wrapper('aAeDEFIlnpOPsSuXbwxo trace output'),
  'systemd-run pkexec': wrapper('up unit property uid gid working-directory setenv user', { moves: /^/ }),
  setarch: wrapper('', { before: /^(?:linux\d\d|i\d86|x86_64|uname26)$/ }),
  'npx bunx uvx': wrapper('pc package call', {}, { isUntold: true, goesByDirectory: true }),
  'builtin nohup setsid fakeroot unbuffer valgrind busybox toybox xterm': wrapper(),
  'su runuser sg': {
    ...code('cgG command session-command'),
    verdicts: [['ask', /^/, 'runs commands as another user']],
  },
  script: code('c command'),
  'docker podman nerdctl docker-compose': {
    verdicts: [
      [
        'ask',
        /^--(?:privileged|pid=host)|docker\.sock|(?:^|=)\/(?:\w+\/?)*:|(?:^|[=,])(?:src|source)=\//m,
        'gives a container access to what lies outside',
      ],
    ],
    evaluate: evaluateUnknown,
  },
};

/** Finds the command after the wrapper's options. A word that is not clearly an option is `ask`. */
function unwrap(call: Call, options: Options, wrapping: Wrapping): Stream {
  const { name, scope, words } = call;
  const { before, assigns = false, shell, moves } = wrapping;
  const settings: string[] = [];
  const { operands, given } = options;
  for (const { name: option, value } of given) {
    if (value === undefined) continue;
    if (TAKES_CODE.test(option)) call.runAskedCode(value);
    // `strace -o '|CODE'`
    else if (/^(?:o|output)$/.test(option) && /^[|!]/.test(value.known))
      call.runAskedCode(value.dropPrefix(1));
  }
  const isMarked = assigns && options.operands[0]?.shown === '-';
  const behind = isMarked ? operands.slice(1) : operands;
  const head = words.slice(0, words.length - behind.length);
  const rest = assigns ? skipAssignments(call, behind, settings) : behind;
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
  if (only !== undefined && more.length === 0 && /\s/.test(only.known))
    call.shell.runText(only.known, scope.copy(), UNKNOWN);
  if (only === undefined)
    return shell?.test(head.map(({ shown }) => shown).join('\n')) === true ? call.runStream() : UNKNOWN;
  // `command rm` and `builtin cd` skip functions, and change the shell that runs them.
  const isOwn = name === 'command' || name === 'builtin';
  if (isOwn) scope.functions.clear();
  const isMoved = moves?.test('') === true || given.some((one) => moves?.test(one.name));
  const inner = isOwn ? scope : scope.copy();
  if (isMoved) inner.directory = undefined;
  return call.runRest(command, inner, call.input, settings);
}

/** Options whose value is code: `su -c`, `npx -c`, `env -S`. */
const TAKES_CODE = /^(?:[cS]|call|command|split-string|session-command)$/;

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
  const harms = (how: string) => {
    if (vital !== undefined) call.block(`find would ${how} what is below ${vital.shown}.`);
    else if (starts.some((start) => call.dangerOfTree(start) !== 'ordinary'))
      call.ask(`find would ${how} files below ${starts.map(({ shown }) => shown).join(' ')}.`);
  };
  for (const start of starts) call.touches('read', start);
  if (given.some((word) => word.mayBeOptions)) call.ask('The words of find are computed.');
  expression.forEach(({ shown, literal, isComputed }, index) => {
    const next = expression[index + 1];
    if (!literal && isComputed) call.ask(`An expression of find is computed: ${shown}`);
    if (shown === '-delete') {
      for (const start of starts) call.touches('delete', start);
      harms('remove');
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
      if (command.some((word) => REMOVES.test(word.shown))) harms('remove');
      if (command.some((word) => CHANGES_ACCESS.test(word.shown))) harms('change the access to');
    } else if (/^-f(?:printf?0?|ls)$/.test(shown) && next !== undefined) call.overwrite(next, UNKNOWN);
  });
  // The directory that a following `| xargs rm` would hit.
  const root = vital ?? (starts.length === 1 ? starts[0] : undefined);
  return root === undefined || (root !== vital && call.dangerOfTree(root) !== 'ordinary')
    ? UNKNOWN
    : { kind: 'listing', root: pathText(root, scope.directory) };
}

const REMOVES = /(?:^|\/)(?:rm|unlink|shred|srm|rmdir|truncate)$/;

const CHANGES_ACCESS = /(?:^|\/)(?:chmod|chown|chgrp|chattr)$/;

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
