import { dropPrefix, exactText, type Field, startsUnknown } from '../field.js';
import { judgeVariable } from '../judge-variable.js';
import { HOME, UNKNOWN_VALUE } from '../scope.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { NOTHING, type Stream, UNKNOWN } from '../stream.js';
import { runCodeStream, runCodeWord, runRest } from './run-payload.js';
import { whereabouts } from './whereabouts.js';

/** How a program that runs another one is written: what stands before the other one's name. */
interface WrapperSpec {
  /** Options that take the next word, or the rest of theirs. */
  readonly short?: string;
  readonly long?: readonly string[];
  /** Words between the options and the command: a duration, a mask, a directory. */
  readonly operands?: number;
  /** `NAME=value` may stand before the command. */
  readonly assignments?: boolean;
  /** Options after which nothing runs (`command -v`). */
  readonly inert?: RegExp;
  /** Options whose value is a command line of its own. */
  readonly code?: readonly string[];
  /** It runs a shell on its input when no command is given. */
  readonly shell?: boolean;
}

const WRAPPERS: Readonly<Record<string, WrapperSpec>> = {
  sudo: {
    short: 'ugpCTRDhrtU',
    long: [
      'user',
      'group',
      'prompt',
      'close-from',
      'command-timeout',
      'chroot',
      'chdir',
      'host',
      'role',
      'type',
      'other-user',
    ],
    assignments: true,
    shell: true,
  },
  doas: { short: 'uC', shell: true },
  pkexec: { long: ['user'] },
  env: { short: 'uC', long: ['unset', 'chdir', 'argv0'], assignments: true },
  command: { inert: /^-\w*[vV]/ },
  builtin: {},
  exec: { short: 'a' },
  nice: { short: 'n', long: ['adjustment'] },
  ionice: { short: 'cnpPu', long: ['class', 'classdata', 'pid', 'pgid', 'uid'] },
  chrt: { short: 'TPDp', operands: 1 },
  taskset: { operands: 1, short: 'p' },
  nohup: {},
  setsid: {},
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  unbuffer: {},
  timeout: { short: 'ks', long: ['kill-after', 'signal'], operands: 1 },
  time: { short: 'fo', long: ['format', 'output'] },
  chroot: { long: ['userspec', 'groups'], operands: 1, shell: true },
  unshare: {
    short: 'SGRw',
    long: [
      'setuid',
      'setgid',
      'root',
      'wd',
      'map-user',
      'map-group',
      'map-users',
      'map-groups',
      'propagation',
      'setgroups',
    ],
    shell: true,
  },
  nsenter: { short: 'tSG', long: ['target', 'setuid', 'setgid'], shell: true },
  setpriv: {
    long: [
      'reuid',
      'regid',
      'groups',
      'inh-caps',
      'ambient-caps',
      'bounding-set',
      'securebits',
      'selinux-label',
      'apparmor-profile',
    ],
  },
  capsh: { code: ['c'] },
  flock: {
    short: 'wE',
    long: ['timeout', 'wait', 'conflict-exit-code'],
    operands: 1,
    code: ['c', 'command'],
  },
  strace: { short: 'aeEIoOpPsSuXb', long: ['output', 'trace'] },
  ltrace: { short: 'aAeDFlnopsuwx' },
  valgrind: {},
  rlwrap: {},
  fakeroot: { short: 'lsib' },
  fakechroot: {},
  proot: { short: 'rbwqkS' },
  firejail: {},
  bwrap: {},
  'dbus-run-session': {},
  'dbus-launch': {},
  'systemd-run': {
    short: 'uptHMEp',
    long: [
      'unit',
      'property',
      'uid',
      'gid',
      'nice',
      'working-directory',
      'setenv',
      'on-active',
      'on-calendar',
      'slice',
      'description',
    ],
  },
  'systemd-inhibit': { long: ['what', 'who', 'why', 'mode'] },
  caffeinate: { short: 'tw' },
  torsocks: {},
  torify: {},
  proxychains: { short: 'f' },
  proxychains4: { short: 'f' },
  linux32: {},
  linux64: {},
  setarch: { operands: 1 },
  i386: {},
  x86_64: {},
  gosu: { operands: 1 },
  'su-exec': { operands: 1 },
  runcon: { short: 'turl', operands: 1 },
  catchsegv: {},
  eatmydata: {},
  cpulimit: { short: 'lpe' },
  prlimit: {},
  numactl: { short: 'mNCpi' },
  softlimit: { short: 'amdoslcft' },
  chpst: { short: 'ueUnbodpfcrt/' },
  setuidgid: { operands: 1 },
  envdir: { operands: 1 },
  cgexec: { short: 'g' },
  daemonize: { short: 'acepoluE' },
  'xvfb-run': { short: 'nefps', long: ['server-num', 'error-file', 'auth-file', 'server-args'] },
  xterm: { inert: /^-(?!e$)/ },
};

export const WRAPPER_JUDGES: Judges = Object.fromEntries(
  Object.entries(WRAPPERS).map(([name, spec]) => [name, (call: Invocation) => unwrap(call, spec)]),
);

/** Finds the command behind the wrapper's options. What cannot be read as an option for sure is asked about. */
function unwrap(call: Invocation, spec: WrapperSpec): Stream {
  const { words, findings, name } = call;
  if (name === 'env') return unwrapEnv(call, spec);
  const first = words[0] === undefined ? undefined : exactText(words[0]);
  if (first !== undefined && spec.inert?.test(first) === true) return whereabouts(words.slice(1));
  const start = skipOptions(call, spec);
  const rest = skipAssignments(call, words.slice(start), spec);
  const behind = rest.slice(spec.operands ?? 0);
  for (const word of rest.slice(0, spec.operands ?? 0))
    if (isLoose(word)) findings.ask(`The words before the command of ${name} are computed.`);
  if (spec.code !== undefined && behind.length > 0 && isCodeOption(behind[0], spec.code)) {
    return behind[1] === undefined ? UNKNOWN : runCodeWord(call, behind[1], call.scope.copy());
  }
  if (behind.length === 0)
    return spec.shell === true && opensShell(call, start)
      ? runCodeStream(call, call.input, call.scope.copy())
      : NOTHING;
  const keepsScope = name === 'command' || name === 'builtin';
  return runRest(call, behind, keepsScope ? withoutFunctions(call) : call.scope.copy());
}

/** `sudo -l`, `sudo -k`: nothing runs. */
function opensShell({ name, words }: Invocation, start: number): boolean {
  if (name !== 'sudo' && name !== 'doas') return true;
  return words.slice(0, start).some((word) => /^-\w*[si]|^--(?:shell|login)/.test(word.shown));
}

/** `command rm` and `builtin cd` go past functions, and change the shell that runs them. */
function withoutFunctions({ scope }: Invocation) {
  scope.functions.clear();
  return scope;
}

function isCodeOption(word: Field | undefined, code: readonly string[]): boolean {
  const text = word === undefined ? undefined : exactText(word);
  return text !== undefined && code.some((name) => text === `-${name}` || text === `--${name}`);
}

/** A word that is not known, before the command: it may be the command, or an option that takes it. */
function isLoose(word: Field): boolean {
  return (
    exactText(word) === undefined &&
    word.pieces.some((piece) => piece.kind === 'glob' || (piece.kind === 'unknown' && piece.splits))
  );
}

function skipOptions({ words, findings, name }: Invocation, spec: WrapperSpec): number {
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined || startsUnknown(word)) break;
    const text = exactText(word);
    if (text === '--') return at + 1;
    if (text === undefined || !text.startsWith('-') || (text === '-' && name !== 'env')) break;
    if (!word.literal) findings.ask(`The options of ${name} are computed.`);
    if (takesNext(text, spec)) at++;
  }
  return at;
}

function takesNext(text: string, spec: WrapperSpec): boolean {
  if (text.startsWith('--')) {
    return (
      !text.includes('=') &&
      spec.long?.some(
        (long) => long === text.slice(2) || (text.length > 4 && long.startsWith(text.slice(2))),
      ) === true
    );
  }
  for (let at = 1; at < text.length; at++) {
    if (spec.short?.includes(text.charAt(at)) === true) return at === text.length - 1;
  }
  return false;
}

function skipAssignments(
  { scope, shell }: Invocation,
  words: readonly Field[],
  spec: WrapperSpec,
): readonly Field[] {
  if (spec.assignments !== true) return words;
  const at = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.shown));
  const rest = at === -1 ? [] : words.slice(at);
  for (const word of words.slice(0, words.length - rest.length)) {
    const equals = word.shown.indexOf('=');
    const name = word.shown.slice(0, equals);
    const text = exactText(dropPrefix(word, equals + 1));
    const value = text === undefined ? UNKNOWN_VALUE : ({ kind: 'text', text, assumed: false } as const);
    judgeVariable(shell, name, value, scope);
    scope.set(name, UNKNOWN_VALUE);
  }
  return rest;
}

/** `env -S` splits a text into words; as it is close to what a shell does, it is read as one. */
function unwrapEnv(call: Invocation, spec: WrapperSpec): Stream {
  const { words, findings } = call;
  const at = words.findIndex((word) => /^(?:-[iv0]*S|--split-string)/.test(word.shown));
  const start = skipOptions(call, spec);
  if (at === -1 || at > start) {
    const rest = skipAssignments(call, words.slice(start), spec);
    if (rest[0] !== undefined && startsUnknown(rest[0])) findings.ask('The command of env is computed.');
    return rest.length === 0 ? UNKNOWN : runRest(call, rest, call.scope.copy());
  }
  const option = words[at];
  const attached = option?.shown.replace(/^(?:-[iv0]*S|--split-string=?)/, '') ?? '';
  const text = attached === '' ? (words[at + 1]?.shown ?? '') : attached;
  const rest = words.slice(attached === '' ? at + 2 : at + 1).map(({ shown }) => shown);
  findings.ask('env splits a text into the command it runs.');
  return call.shell.runText(
    [text.replace(/^(?:\s*-\S+|\s*\w+=\S*)+\s+/, ''), ...rest].join(' '),
    call.scope.copy(),
    call.input,
  );
}

/** `su`, `runuser`: the command is a text behind `-c`, or comes on the input. */
const judgeSu: Judge = (call) => {
  const { words } = call;
  const at = words.findIndex((word) => /^(?:-\w*c|--(?:session-)?command)$/.test(word.shown));
  const attached = words.find((word) => /^--(?:session-)?command=/.test(word.shown));
  if (attached !== undefined)
    call.shell.runText(attached.shown.slice(attached.shown.indexOf('=') + 1), call.scope.copy(), call.input);
  const code = at === -1 ? undefined : words[at + 1];
  const scope = call.scope.copy();
  scope.directory = words.some((word) => /^(?:-|-\w*l\w*|--login)$/.test(word.shown))
    ? HOME
    : scope.directory;
  if (code !== undefined) return runCodeWord(call, code, scope, call.input);
  const separator = words.findIndex((word) => word.shown === '--');
  if (call.name === 'runuser' && separator !== -1) return runRest(call, words.slice(separator + 1), scope);
  if (call.name === 'runuser') {
    const user = words.findIndex((word) => word.shown === '-u');
    if (user !== -1) return runRest(call, words.slice(user + 2), scope);
  }
  return attached === undefined ? runCodeStream(call, call.input, scope) : UNKNOWN;
};

export const SU_JUDGES: Judges = { su: judgeSu, runuser: judgeSu, sg: judgeSu };
