import type { Call } from '../words/call.js';
import { Field, type Stream, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { isSecret } from '../words/place.js';
import { asksAboutCommands, evaluateCopier, type Program, type Programs, type Verdict } from './program.js';

const reaches = (scheme: string, verdicts: readonly Verdict[] = []): Program => ({
  verdicts: verdicts,
  evaluate: (call, { operands }) => reach(call, operands, scheme),
});

/** Programs that reach other machines. */
export const NETWORK_PROGRAMS: Programs = {
  curl: { options: 'o output', evaluate: download },
  wget: { options: 'O output-document', evaluate: download },
  'http https xh aria2c fetch': reaches('http'),
  telnet: reaches('tcp'),
  'ftp lftp': reaches('ftp'),
  'ping ping6 traceroute': reaches('icmp'),
  'dig host nslookup': reaches('dns'),
  'scp sftp rsync': { evaluate: copyBetweenMachines },
  'nc ncat netcat': reaches('tcp', [
    ['block', /^-(?:\w*[ec]|-(?:sh-|lua-)?exec)/m, 'would give a program to the other end'],
  ]),
  socat: reaches('tcp', [
    ['block', /^(?:EXEC|SYSTEM|SHELL):[^,\n]*/im, 'would give a program (%) to the other end'],
  ]),
  ssh: {
    options: 'bcDeFIiJLlmOpQRSWwBoE',
    leads: true,
    verdicts: [['ask', /^(?:-o)?(?:\w+Command|Match)[=\s]/im, 'runs a command of its settings']],
    evaluate: evaluateSsh,
  },
  git: {
    options: 'Cc git-dir work-tree namespace config-env',
    leads: true,
    goesByDirectory: true,
    evaluate: evaluateGit,
  },
};

/** The hosts among the words of a program, and secrets that may be sent to them. */
function reach(call: Call, words: readonly Field[], scheme: string): Stream {
  const { name, input } = call;
  const urls = words.filter(({ shown }) => /^\w[\w+.-]*:\/\//.test(shown));
  const named = urls.length > 0 ? urls : words.filter(({ shown }) => HOST.test(shown));
  for (const { exact, shown } of named.length > 0 ? named : words.slice(-1))
    call.fetches(exact ?? shown, scheme);
  if (input.kind === 'unknown' && input !== UNKNOWN) call.ask(`What ${name} sends away is not known.`);
  call.words.forEach((word, at) => {
    if (word.source !== undefined) call.ask(`What ${name} sends away is computed: ${word.shown}`);
    const isUpload = /^(?:-T|--upload-file)$/.test(call.words[at - 1]?.shown ?? '');
    const file = isUpload ? word.shown : /(?:[@<]|-file=)([^=@<;]+)$/.exec(word.shown)?.[1];
    if (file !== undefined && isSecret(file)) call.block(`${name} would send a secret away (${file}).`);
  });
  return { kind: 'fetched', from: name };
}

/** `localhost`, `me@host`, `host:path`, a name with a dot, an address. */
const HOST =
  /^(?:localhost\b|[\w.-]+@[\w.-]+|[\w.-]+:(?!\/\/)|[\w-]+(?:\.[\w-]*[a-z][\w-]*)+(?:[:/]|$)|\d+\.\d+\.\d+\.\d+)/i;

/** `rsync --delete` removes what the source does not have. */
function copyBetweenMachines(call: Call, options: Options): Stream {
  const { operands } = options;
  const isRemote = ({ shown }: Field): boolean => shown.includes(':');
  const target = operands.at(-1);
  reach(call, operands.filter(isRemote), 'ssh');
  if (target !== undefined && call.words.some(({ shown }) => /^--del/.test(shown)))
    call.removeTree(target, true);
  const secret = operands.slice(0, -1).find(({ shown }) => isSecret(shown));
  if (target !== undefined && isRemote(target) && secret !== undefined)
    call.block(`${call.name} would send a secret away (${secret.shown}).`);
  return evaluateCopier(call, options);
}

/** Running a saved file later is as bad as running it at once. */
function download(call: Call, options: Options): Stream {
  const { operands } = options;
  const output = reach(call, operands, 'http');
  const targets = options.values('o', 'output', 'output-document', ...(call.name === 'wget' ? ['O'] : []));
  for (const target of targets) if (target.shown !== '-') call.overwrite(target, output);
  // Saved under the last part of the address.
  if (targets.length > 0 || (call.name === 'curl' && !options.has('O', 'remote-name'))) return output;
  for (const { shown } of operands.slice(0, 16)) {
    const name = /([^/]+)$/.exec(shown.replace(/[?#].*$/s, ''))?.[1];
    if (name !== undefined) call.scope.noteWritten(Field.of(name), output);
  }
  call.touches('write', Field.of('.'));
  return output;
}

/** The words are joined, and a shell on the other machine reads them; damage on that machine counts too. */
function evaluateSsh(call: Call, { operands: [host, ...command] }: Options): void {
  if (host === undefined) return;
  call.fetches(host.exact ?? host.shown, 'ssh');
  if (host.exact?.startsWith('-') === true) call.ask('The host that ssh connects to looks like an option.');
  if (command.length > 0) call.runCode(Field.join(command), call.scope.copy(), call.input);
  // Without a command, the shell there reads it from the input.
  else if (call.input.kind !== 'unknown') call.runStream();
}

function evaluateGit(call: Call, { operands: [command, ...rest], given }: Options): void {
  const name = command?.shown ?? '';
  if (!ONLY_READS.test(name)) call.findings.untold();
  const settings = given.flatMap((one) => (one.name === 'c' && one.value ? [one.value] : []));
  const set = name === 'config' ? Field.join(rest) : settings.find(({ shown }) => SETTING.test(shown));
  const code = set && SETTING.exec(set.shown)?.[1];
  if (code !== undefined) call.runAskedCode(Field.of(code.replace(/^!/, '')));
  const isRead = rest.some(({ shown }) => /^(?:--(?:get|list|unset|remove).*|-l)$/.test(shown));
  if (name === 'config' && code === undefined && !isRead && SETS_PROGRAM.test(set?.shown ?? ''))
    call.ask(`git config sets what git runs: ${set?.shown}`);
  if (RUNS.test(name)) asksAboutCommands(call, rest, true);
  const isRun = ({ shown }: Field): boolean => RUNS_OPTION.test(shown) || (shown === '-x' && RUNS.test(name));
  if (code === undefined && rest.some(isRun)) call.ask(`git ${name} runs a command.`);
  if (!REACHES.test(name)) return;
  const [first, target = Field.of('.')] = rest.filter(({ shown }) => !shown.startsWith('-'));
  const address = rest.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:/.test(shown))?.shown;
  if (address !== undefined)
    call.fetches(address.includes('://') ? address : address.replace(':', '/'), 'ssh');
  else if (name !== 'clone' && name !== 'submodule' && name !== 'remote')
    call.findings.effect({ kind: 'fetch', url: `git:${first?.shown ?? 'origin'}` });
  if (name === 'clone') call.touches('write', target);
}

const ONLY_READS = /^(?:status|log|diff|show|blame|grep|describe|ls-\w+|rev-\w+|cat-file|help)$/;
const REACHES = /^(?:clone|fetch|pull|push|ls-remote|submodule|remote)$/;
const RUNS = /^(?:bisect|submodule|rebase|filter-branch|difftool|mergetool)$/;
const RUNS_OPTION = /^(?:ext::|-O.|--(?:exec|extcmd|upload-pack|open-files-in-pager)\b)/;

/** Settings of git with hooks, aliases and programs: a command if the value is more than a name. */
const SETTING =
  /(?:^|\s)(?:alias|core|diff|difftool|merge|mergetool|pager|filter|credential|sequence|include|includeif|gpg|interactive|protocol)\.[^\s=]*[\s=](.*[ !/].*)$/is;

/** `git config` with a program or a directory that git runs from: a name alone may be one of the workspace. */
const SETS_PROGRAM =
  /(?:^|\s)(?:core\.(?:hookspath|fsmonitor|sshcommand|askpass|gitproxy|editor|pager)|sequence\.editor|pager\.\S+|init\.templatedir|include(?:if)?\.(?:\S*\.)?path|(?:diff|difftool|merge|mergetool|filter|credential|gpg)\.(?:\S*\.)?(?:external|command|textconv|driver|clean|smudge|process|helper|cmd|path|program))\s+(?!(?:true|false|\d+|cat|less|more|vi|vim|nano|emacs|code|store|cache|manager|osxkeychain)$)\S+$/i;
