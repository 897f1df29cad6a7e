import { exactText, type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect, writeEffect } from '../report-effects.js';
import type { Invocation, Judge } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { runCodeWord, runRest } from './run-payload.js';

/** Settings of git whose value is run. */
const RUN_SETTING =
  /^(?:alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile|worktree)|pager\..*|.*\.(?:cmd|path|textconv|command|clean|smudge|process|driver|helper|program|uploadpack|receivepack|vcs|proxy)|diff\.external|sequence\.editor|credential\.helper|gpg\.program|protocol\..*\.?allow|uploadpack\..*|init\.templatedir|include\.path|includeif\..*|submodule\..*\.update|interactive\.difffilter|web\.browser|sendemail\..*)$/i;

export const judgeGit: Judge = (call) => {
  const { words, findings } = call;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    const text = word === undefined ? undefined : exactText(word);
    if (text === undefined) findings.ask('The options of git are computed.');
    if (text === undefined || !text.startsWith('-')) break;
    const takesNext =
      /^(?:-c|-C|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix|--attr-source)$/.test(
        text,
      );
    if (text === '-c') judgeSetting(call, words[at + 1]);
    if (/^-c./.test(text)) judgeSetting(call, literalField(text.slice(2)));
    if (/^--(?:exec-path=|config-env)/.test(text))
      findings.ask(`git takes programs or settings from elsewhere: ${text}`);
    if (takesNext) at++;
  }
  const [command, ...rest] = words.slice(at);
  if (command !== undefined) judgeSubcommand(call, command.shown, rest);
  return UNKNOWN;
};

function judgeSetting(call: Invocation, setting: Field | undefined): void {
  if (setting === undefined) return;
  const text = exactText(setting);
  const equals = text?.indexOf('=') ?? -1;
  const name = equals === -1 ? (text ?? '') : (text ?? '').slice(0, equals);
  if (text === undefined) call.findings.ask(`A setting of git is computed: ${setting.shown}`);
  if (!RUN_SETTING.test(name)) return;
  judgeCodeSetting(call, name, equals === -1 ? '' : (text ?? '').slice(equals + 1));
}

function judgeCodeSetting(call: Invocation, name: string, value: string): void {
  if (/^(?:cat|less|more|vim?|nano|true|false|always|never|user|store|cache|)$/.test(value)) return;
  call.findings.ask(`git runs ${name}: ${value}`);
  const isAlias = name.toLowerCase().startsWith('alias.');
  if (isAlias && !value.startsWith('!')) return;
  call.shell.runText(value.replace(/^!/, ''), call.scope.copy(), INHERITED);
}

const NETWORK = new Set([
  'clone',
  'fetch',
  'pull',
  'push',
  'ls-remote',
  'submodule',
  'remote',
  'archive',
  'fetch-pack',
  'send-pack',
]);

function judgeSubcommand(call: Invocation, command: string, words: readonly Field[]): void {
  const { findings } = call;
  if (NETWORK.has(command)) judgeRemote(call, command, words);
  if (command === 'config') {
    const [name, value] = readOptions(words, {
      short: 'f',
      long: ['file', 'type', 'blob', 'default'],
    }).operands.filter(({ shown }) => shown !== 'set' && shown !== 'get');
    if (name !== undefined && value !== undefined && RUN_SETTING.test(name.shown))
      judgeCodeSetting(call, name.shown, value.shown);
  }
  if (command === 'rebase')
    for (const code of codes(words, /^(?:-x|--exec)$/, /^(?:--exec=|-x)(.+)/s)) runGitCode(call, code);
  if (command === 'difftool')
    for (const code of codes(words, /^(?:-x|--extcmd)$/, /^--extcmd=(.*)/s)) runGitCode(call, code);
  if (command === 'grep')
    for (const code of codes(words, /^(?:-O|--open-files-in-pager)$/, /^(?:--open-files-in-pager=|-O)(.+)/s))
      runGitCode(call, code);
  if (command === 'filter-branch')
    for (const code of codes(words, /^--[\w-]+-filter$/, /^--[\w-]+-filter=(.*)/s)) runGitCode(call, code);
  if (command === 'bisect' && words[0]?.shown === 'run') runRest(call, words.slice(1), call.scope.copy());
  if (command === 'submodule') judgeForeach(call, words);
  if (command === 'bundle' || command === 'apply')
    for (const word of words) if (!word.shown.startsWith('-')) readEffect(findings, word, call.scope);
}

function judgeForeach(call: Invocation, words: readonly Field[]): void {
  const at = words.findIndex(({ shown }) => shown === 'foreach');
  if (at === -1) return;
  const command = words.slice(at + 1).filter(({ shown }) => !/^--(?:recursive|quiet)$/.test(shown));
  const [first] = command;
  if (first === undefined) return;
  if (command.length === 1) runCodeWord(call, first, call.scope.copy());
  else runRest(call, command, call.scope.copy());
}

function codes(words: readonly Field[], option: RegExp, attached: RegExp): Field[] {
  return words.flatMap((word, index) => {
    const inside = attached.exec(word.shown)?.[1];
    if (inside !== undefined) return [{ ...literalField(inside), literal: word.literal }];
    const next = words[index + 1];
    return option.test(word.shown) && next !== undefined ? [next] : [];
  });
}

function runGitCode(call: Invocation, code: Field): void {
  call.findings.ask(`git runs a command: ${code.shown}`);
  runCodeWord(call, code, call.scope.copy());
}

function judgeRemote(call: Invocation, command: string, words: readonly Field[]): void {
  const { findings, scope } = call;
  const options = readOptions(words, {
    short: 'boucj',
    long: [
      'branch',
      'origin',
      'upload-pack',
      'receive-pack',
      'exec',
      'depth',
      'config',
      'reference',
      'template',
      'jobs',
    ],
  });
  for (const { name, value } of options.options) {
    if (/^(?:u|upload-pack|receive-pack|exec)$/.test(name) && value !== undefined && command !== 'push')
      runGitCode(call, value);
    if (/^(?:receive-pack|exec)$/.test(name) && value !== undefined && command === 'push')
      runGitCode(call, value);
    if ((name === 'c' || name === 'config') && command === 'clone') judgeSetting(call, value);
  }
  const address = options.operands.find(({ shown }) => /:\/\/|^[\w.-]+@[\w.-]+:|^ext::/.test(shown));
  if (address !== undefined) {
    const { shown } = address;
    findings.effect({
      kind: 'fetch',
      url: /:\/\//.test(shown) || shown.startsWith('ext::') ? shown : `ssh://${shown.replace(':', '/')}`,
    });
    if (shown.startsWith('ext::')) runGitCode(call, literalField(shown.slice(5)));
  } else if (/^(?:fetch|pull|push|ls-remote)$/.test(command)) {
    findings.effect({ kind: 'fetch', url: `git:${options.operands[0]?.shown ?? 'origin'}` });
  }
  if (command === 'clone') writeEffect(findings, options.operands[1] ?? literalField('.'), scope);
}
