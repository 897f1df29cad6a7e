import type { Call } from '../words/call.js';
import { COMPUTED, Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { evaluateVariable } from '../words/variables.js';
import { directoryOf } from './builtins.js';
import { codesBehind, type Program, type Programs } from './program.js';

/** What stands before the command of a wrapper: words (a duration, a mask), `NAME=value`. */
interface Wrapper {
  /** A pattern: one word, where it is such. */
  readonly before?: number | RegExp;
  readonly assigns?: true;
  /** Options with which the command runs in another directory; `true`: it always does. */
  readonly directory?: RegExp | true;
  /** Those of them whose value is that directory. */
  readonly enters?: RegExp;
  /** It runs a shell on its input when no command is given, with one of these options. */
  readonly shell?: RegExp;
}

/** Runs the command behind its options. `short` and `long` are those that take a value. */
function wraps(short = '', long = '', wrapper: Wrapper = {}): Program {
  return { short, long, leads: true, also: (call, options) => unwrap(call, options, wrapper) };
}

/** Programs that run a command that stands among their words. */
export const WRAPPER_PROGRAMS: Programs = {
  sudo: wraps(
    'ugpCTRDhrtU',
    'user group prompt close-from command-timeout chroot chdir host role type other-user',
    {
      assigns: true,
      shell: /^-(?:\w*[si]|-shell|-login)/m,
      directory: /^(?:D|R|chd|chr|i|login)/,
      enters: /^(?:D|chd)/,
    },
  ),
  doas: wraps('uC', '', { shell: /^-(?:\w*[si]|-shell|-login)/m }),
  pkexec: wraps('', 'user'),
  env: { ...wraps('uCS', 'unset chdir argv0 split-string'), also: unwrapEnv },
  command: {
    ...wraps(),
    also: (call, options) => (options.has('v', 'V') ? COMPUTED : unwrap(call, options, {})),
  },
  exec: wraps('a'),
  'nice runcon numactl': wraps('ntrlumNCpi', 'adjustment'),
  ionice: wraps('cnpPu', 'class classdata pid pgid uid'),
  chrt: wraps('TPDp', '', { before: 1 }),
  taskset: wraps('p', '', { before: 1 }),
  stdbuf: wraps('ioe', 'input output error'),
  timeout: wraps('ks', 'kill-after signal', { before: 1 }),
  time: { ...wraps('f', 'format'), options: { 'o output': 'overwrite' } },
  choom: wraps('np', 'adjust pid'),
  uclampset: wraps('mMp'),
  perf: { also: unwrapPerf },
  chroot: wraps('', 'userspec groups', { before: 1, shell: /^/, directory: true }),
  unshare: wraps(
    'SGRw',
    'setuid setgid root wd map-user map-group map-users map-groups propagation setgroups',
    { shell: /^/, directory: /^(?:R|ro|w)/ },
  ),
  nsenter: wraps('tSG', 'target setuid setgid', { shell: /^/, directory: true }),
  setpriv: wraps('', 'reuid regid groups inh-caps ambient-caps bounding-set securebits selinux-label'),
  flock: wraps('wE', 'timeout wait conflict-exit-code', { before: 1 }),
  strace: { ...wraps('aeEIOpPsSuXb', 'trace'), options: { 'o output': 'overwrite' } },
  ltrace: { ...wraps('aAeDFlnpsuwx'), options: { 'o output': 'overwrite' } },
  fakeroot: wraps('lsib'),
  proot: wraps('rbwqkS', '', { directory: true }),
  'systemd-run': wraps(
    'uptHME',
    'unit property uid gid nice working-directory setenv on-active on-calendar slice',
    { directory: /^(?:working|M)/ },
  ),
  'systemd-inhibit': wraps('', 'what who why mode'),
  caffeinate: wraps('tw'),
  'proxychains proxychains4': wraps('f'),
  setarch: wraps('', '', {
    before: /^(?:linux\d\d|i\d86|x86_64|uname26|(?:aarch|arm|ppc|mips|s390|sparc|alpha|ia|parisc|riscv)\w*)$/,
  }),
  'gosu su-exec setuidgid envdir': wraps('', '', { before: 1 }),
  cpulimit: wraps('lpe'),
  softlimit: wraps('amdoslcft'),
  chpst: wraps('ueUnbodpfcrt/'),
  cgexec: wraps('g'),
  daemonize: wraps('acepoluE'),
  sshpass: wraps('pfdP'),
  'xvfb-run': wraps('nefps', 'server-num error-file auth-file server-args'),
  'ld-linux': wraps('', 'library-path preload argv0 audit inhibit-rpath'),
  'builtin nohup setsid unbuffer valgrind rlwrap fakechroot firejail dbus-run-session dbus-launch': wraps(),
  'torsocks torify linux32 linux64 i386 x86_64 catchsegv eatmydata prlimit capsh entr busybox toybox':
    wraps(),
  'su runuser sg': { short: 'ugGs', options: { 'c command session-command': 'skip' }, also: evaluateSu },
  xterm: {
    leads: true,
    also: (call, { operands }) => runsBehind(/^-e$/).also?.(call, new Options([])) ?? call.runRest(operands),
  },
  'kubectl oc': runsBehind(/^--$/, /^exec$[\s\S]*^--$/m),
  ip: runsBehind(/^exec$/, /^/, 1),
  'docker podman nerdctl docker-compose': {
    when: [
      ['ask', /^--privileged|^--pid=host|docker\.sock/m, 'gives a container the machine'],
      ['ask', /^system\nprune/m, 'removes what is not running'],
    ],
    also: evaluateContainer,
  },
};

/** The words behind the first one that matches are a command. */
function runsBehind(mark: RegExp, when = /^/, skip = 0): Program {
  return {
    also(call) {
      const at = call.words.findIndex(({ shown }) => mark.test(shown));
      return at === -1 || !when.test(call.shown) ? undefined : call.runRest(call.words.slice(at + 1 + skip));
    },
  };
}

/** Finds the command behind the wrapper's options. What cannot be read as an option for sure is asked about. */
function unwrap(call: Call, options: Options, wrapper: Wrapper): Stream {
  const { operands } = options;
  const { words, name, scope } = call;
  const head = words.slice(0, words.length - operands.length);
  if (head.some(({ literal, shown }) => !literal && shown.startsWith('-')))
    call.ask(`The options of ${name} are computed.`);
  const settings: string[] = [];
  const rest = wrapper.assigns === true ? skipAssignments(call, operands, settings) : operands;
  const { before = 0 } = wrapper;
  const skipped = typeof before === 'number' ? before : before.test(rest[0]?.shown ?? '') ? 1 : 0;
  // A word that is not known may be the command, or an option that takes it.
  if (rest.slice(0, skipped).some(({ hasPattern, isLoose }) => hasPattern || isLoose))
    call.ask(`The words before the command of ${name} are computed.`);
  const command = rest.slice(skipped);
  // `flock FILE -c CODE`
  const code = /^(?:-c|--command)$/.test(command[0]?.shown ?? '') ? command[1] : undefined;
  if (code !== undefined) return call.runCode(code);
  if (command.length === 0)
    return wrapper.shell?.test(head.map(({ shown }) => shown).join('\n')) === true
      ? call.runStream()
      : UNKNOWN;
  // `command rm` and `builtin cd` go past functions, and change the shell that runs them.
  const isOwn = name === 'command' || name === 'builtin';
  if (isOwn) scope.functions.clear();
  const inner = isOwn ? scope : scope.copy(entered(call, options, wrapper));
  return call.runRest(command, inner, call.input, settings);
}

/** Where the command runs: the last option counts. Undefined where it is not known which directory that is. */
function entered({ scope }: Call, { given }: Options, { directory, enters }: Wrapper) {
  const changes = given.filter(({ name }) => directory instanceof RegExp && directory.test(name));
  if (directory !== true && changes.length === 0) return {};
  const last = changes.every(({ name }) => enters?.test(name)) ? changes.at(-1)?.value : undefined;
  return { directory: last && directoryOf(last, scope), elsewhere: [] };
}

/** Whatever is before the `=`: `BASH_FUNC_ls%%=() { …; }` is handed on too, and so is `=1`, which has no name. */
function skipAssignments(call: Call, words: readonly Field[], settings: string[]): readonly Field[] {
  const at = words.findIndex((word) => !word.shown.includes('='));
  const assignments = at === -1 ? words : words.slice(0, at);
  for (const word of assignments) {
    const equals = word.shown.indexOf('=');
    const name = word.shown.slice(0, equals);
    const text = word.dropPrefix(equals + 1).exact;
    evaluateVariable(call, name, text === undefined ? UNKNOWN : textValue(text));
    settings.push(`${name}=${text ?? '?'}`);
    call.scope.set(name, UNKNOWN);
  }
  return words.slice(assignments.length);
}

/** `env -S` splits a text into words; as it is close to what a shell does, it is read as one. */
function unwrapEnv(call: Call, options: Options): Stream {
  const { words } = call;
  const at = words.findIndex(({ shown }) => SPLITS.test(shown));
  if (at !== -1 && at < words.length - options.operands.length) {
    call.ask('env splits a text into the command it runs.');
    const text = Field.join(words.slice(at)).shown.replace(SPLITS, '');
    const code = text.replace(/^(?:\s*-\S+|\s*\w+=\S*)+\s+/, '');
    return call.shell.runText(code, call.scope.copy(), call.input);
  }
  if (options.operands[0]?.shown === '-') options.operands.shift();
  const output = unwrap(call, options, { assigns: true, directory: /^(?:C|ch)/, enters: /^(?:C|ch)/ });
  return options.operands.length === 0 ? UNKNOWN : output;
}

const SPLITS = /^(?:-[iv0]*S|--split-string=?)\s*/;

/** `perf stat OPTIONS COMMAND`. */
function unwrapPerf(call: Call): Stream {
  const [verb, ...words] = call.words;
  if (!/^(?:stat|record|trace|mem|c2c|kmem|kwork|lock|sched|ftrace)$/.test(verb?.shown ?? '')) return UNKNOWN;
  const long = 'event output repeat freq count filter cpu pid tid interval-print';
  return unwrap(call, new Options(words, { short: 'eoprtIFcCGmx', long, leads: true }), {});
}

/** `su`, `runuser`: the command is a text behind `-c`, or comes on the input. It may run in another directory. */
function evaluateSu(call: Call, options: Options): Stream {
  const { words, name, input } = call;
  const scope = call.scope.copy({ directory: undefined });
  if (name === 'runuser' && words.some(({ shown }) => /^(?:-u|--user)/.test(shown))) {
    const { operands } = new Options(words, { short: 'ugGs', long: 'user', leads: true });
    return operands.length > 0 ? call.runRest(operands, scope) : call.runStream(input, scope);
  }
  const code = options.value('c', 'command', 'session-command');
  return code === undefined ? call.runStream(input, scope) : call.runCode(code, scope, input);
}

/** `docker exec CONTAINER COMMAND`, `docker compose exec SERVICE COMMAND`: what breaks things there counts too. */
function evaluateContainer(call: Call): Stream {
  const { words, name } = call;
  for (const { shown } of codesBehind(words, /^(?:-v|--volume|--mount)(?:=?(.+))?$/)) {
    const path = /(?:source|src)=([^,]+)/.exec(shown)?.[1] ?? shown.split(':')[0] ?? '';
    if (call.isVital(path)) call.ask(`${name} gives a container ${path}.`);
  }
  const [, head] = /^((?:(?:-.*|compose|container)\n)*)exec\n/.exec(call.shown) ?? [];
  if (head === undefined) return UNKNOWN;
  const rest = words.slice(head.split('\n').length);
  const long = 'env env-file user workdir detach-keys index';
  return call.runRest(new Options(rest, { short: 'euw', long, leads: true }).operands.slice(1));
}
