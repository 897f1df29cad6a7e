import type { CommandWord } from '../../patterns/command.js';
import type { CommandFound } from '../shell/analysis.js';

/**
 * The words of a command as an allowing rule must match them without a transaction: a star matches operands,
 * and the options below. Every other option, every assignment, and any word that may become an option must be
 * spelled.
 */
export function coveredWords(
  words: readonly string[],
  marks: CommandFound['marks'] = [],
  namesOf: (pattern: string) => readonly string[] | undefined,
): readonly CommandWord[] {
  const [program = ''] = words;
  const isSystems = !program.includes('/') || /^\/(?:usr\/)?bin\/[^/]+$/.test(program);
  const name = isSystems ? program.slice(program.lastIndexOf('/') + 1) : '';
  const subcommand = words.findIndex((word, at) => at > 0 && !word.startsWith('-'));
  const own = optionsOf(name);
  const below = subcommand === -1 ? undefined : optionsOf(`${name} ${words[subcommand]}`);
  const onlyReads = READ_ONLY.has(name);
  const options = below ?? own;
  const end = words.indexOf('--', 1);
  const coversText = (text: string, at: number): boolean => {
    if (at === 0) return true;
    if (/^(?:-.|\+(?!\d+$).)/.test(text)) {
      if (end !== -1 && at >= end && options !== undefined) return true;
      return (below !== undefined && at < subcommand ? own : options)?.(text) === true;
    }
    return options !== undefined || !/^[A-Za-z_]\w*=/.test(text);
  };
  return words.map((text, at): CommandWord => {
    const mark = marks[at];
    if (mark === 'walked') return { text, names: [text], reach: 'any' };
    if (mark === 'unsure') return { text, names: [text], reach: onlyReads ? 'any' : 'exact' };
    if (mark === 'partly')
      return { text, names: [text, `${text}/..`], reach: coversText(text, at) ? 'any' : 'spelled' };
    const found = mark === undefined ? undefined : namesOf(mark.pattern);
    const names = found === undefined || found.length === 0 ? [text] : found;
    // A file may have the name of an option.
    const mayBeOption = mark !== undefined && found === undefined && /^[*?[]/.test(text);
    if (mayBeOption) return { text, names, reach: onlyReads ? 'any' : 'exact' };
    const isCovered = names.every((one) => coversText(baseOf(one, mark), at)) && !isOutput(words, at);
    return { text, names, reach: isCovered ? 'any' : 'spelled' };
  });
}

/** `uniq FROM TO`, `xxd FROM TO`. */
function isOutput(words: readonly string[], at: number): boolean {
  return /^(?:uniq|xxd)$/.test(words[0] ?? '') && words.slice(1, at).some((word) => !word.startsWith('-'));
}

/** A wildcard match is found by its path; the word may start with any part of it. */
function baseOf(name: string, mark: unknown): string {
  if (mark === undefined) return name;
  return name.split('/').find((part) => part.startsWith('-')) ?? name;
}

type Test = (option: string) => boolean;

const tests = new Map<string, Test>();

function optionsOf(name: string): Test | undefined {
  const known = tests.get(name);
  if (known !== undefined || !Object.hasOwn(HARMLESS, name)) return known;
  const [letters = '', valued = '', ...long] = (HARMLESS[name] ?? '').split(' ');
  const words = new Set(long);
  const test = (option: string): boolean => {
    if (words.has(option.split('=', 1)[0] ?? '')) return true;
    if (letters.includes('#') && /^[-+]\d+[A-Za-z]?$/.test(option)) return true;
    if (option.startsWith('+')) return letters.includes('+');
    if (!/^-[^-]/.test(option)) return false;
    for (const letter of option.slice(1)) {
      if (valued.includes(letter)) return true;
      if (!letters.includes(letter) || letter === '#') return false;
    }
    return true;
  };
  tests.set(name, test);
  return test;
}

/** Programs without any option that writes or runs something: even an unknown word is harmless. */
const READ_ONLY: ReadonlySet<string> = new Set(
  'ls cat head tail wc grep egrep fgrep cut tr nl tac echo true false : test [ basename dirname pwd whoami uname seq sleep stat'.split(
    ' ',
  ),
);

/**
 * Options that only change what a common program reads or prints. First the letters (`#`: a number, as in
 * `-20`; `+`: words such as `+%F`), then letters with a value, then long options with a value, then other
 * words; a `-` if there are none. This lists only known harmless options: any other is asked about.
 */
const HARMLESS: Readonly<Record<string, string>> = {
  ls: 'aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 wTI --all --almost-all --author --classify --color --directory --group-directories-first --full-time --human-readable --inode --reverse --recursive --size --sort --time --time-style',
  cat: 'AbeEnstTuv - --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank',
  head: '#qvz nc --lines --bytes --quiet --verbose',
  tail: '#fFqvzr nc --lines --bytes --follow --quiet --retry',
  wc: 'clmLw - --bytes --chars --lines --max-line-length --words',
  grep: '#abcEFGhHiIlLnoPqrRsTUvVwxyzZ ABCdDem --after-context --before-context --binary-files --color --colour --context --count --exclude --exclude-dir --extended-regexp --files-with-matches --files-without-match --fixed-strings --ignore-case --include --invert-match --line-number --line-regexp --max-count --no-filename --no-messages --null --only-matching --perl-regexp --quiet --recursive --regexp --silent --text --with-filename --word-regexp',
  egrep: '#abchHiIlLnoqrRsvwxzZ ABCem --color --count --include --exclude --ignore-case --line-number',
  fgrep: '#abchHiIlLnoqrRsvwxzZ ABCem --color --count --include --exclude --ignore-case --line-number',
  rg: '0bcFhHiIlLnNopPqsSUvVwx ABCegjmMrtTE --after-context --before-context --case-sensitive --color --column --context --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --glob --heading --iglob --ignore-case --invert-match --json --line-number --line-regexp --max-columns --max-count --max-depth --multiline --no-filename --no-heading --no-line-number --no-messages --null --only-matching --passthru --pcre2 --pretty --quiet --regexp --replace --smart-case --sort --stats --trim --type --type-list --type-not --vimgrep --with-filename --word-regexp',
  cut: 'snz bcdf --bytes --characters --complement --delimiter --fields --only-delimited --output-delimiter',
  tr: 'cCdst - --complement --delete --squeeze-repeats',
  sort: 'bcCdfghiMnrRsuVz kt --dictionary-order --field-separator --general-numeric-sort --human-numeric-sort --ignore-case --key --month-sort --numeric-sort --random-sort --reverse --stable --unique --version-sort --zero-terminated',
  uniq: 'cdDiuz fsw --count --repeated --unique --ignore-case --skip-fields',
  nl: 'p bdfhilnsvw --body-numbering',
  tac: 'br s',
  echo: 'enE -',
  test: 'abcdefghknoprstuvwxzGLNOS - -nt -ot -ef -eq -ne -lt -le -gt -ge',
  '[': 'abcdefghknoprstuvwxzGLNOS - -nt -ot -ef -eq -ne -lt -le -gt -ge',
  printf: '- -',
  basename: 'az s --multiple --suffix',
  dirname: 'z - --zero',
  pwd: 'LP -',
  uname: 'asnrvmpio - --all',
  seq: 'w fs --equal-width --separator',
  stat: 'Lftx c --format --printf --dereference --file-system --terse',
  file: 'bhikLNpz F --brief --mime --mime-type --dereference',
  du: '0abcDhHklmsSx dt --all --apparent-size --bytes --human-readable --max-depth --summarize --total',
  df: 'ahHiklPT tx --human-readable --print-type --inodes',
  ps: 'aAdefHLNTwxu CgGopPstU --forest --sort --no-headers --pid --ppid --user',
  pgrep: 'aflnoviwx cdgGPstuU --full --list-name --list-full',
  id: 'gGnruz - --user --group --groups --name',
  which: 'as - --all',
  type: 'aftpP -',
  command: 'vV -',
  date: 'uR+ drI --date --utc --iso-8601 --rfc-3339 --reference',
  free: 'bkmghtw sc --human --mega --giga --total',
  uptime: 'ps - --pretty --since',
  tree: 'adfhpsugDFNCxlr LPI --dirsfirst --noreport --gitignore --prune -I -L -P',
  find: '# - -name -iname -path -ipath -wholename -regex -iregex -type -maxdepth -mindepth -newer -size -mtime -mmin -ctime -atime -empty -print -print0 -printf -ls -prune -not -o -or -a -and -depth -follow -xdev -mount -perm -user -group -L -H -P -quit',
  fd: '0aHIugsFLlp eEtdjSc --extension --type --hidden --no-ignore --max-depth --min-depth --exclude --glob --full-path --absolute-path --color',
  jq: 'acCeMnrsSj - --arg --argjson --compact-output --exit-status --indent --monochrome-output --null-input --raw-input --raw-output --slurp --sort-keys --tab',
  yq: 'PreC oI',
  sed: 'nErsuz el --expression --quiet --silent --regexp-extended',
  awk: '- Fv --field-separator --assign',
  gawk: '- Fv --field-separator --assign',
  diff: 'abBdEiNpqrstTuwyZ# CUxI --brief --color --context --exclude --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change --new-file --recursive --side-by-side --unified --width',
  cmp: 'bls in',
  comm: '123iz -',
  paste: 'sz d',
  column: 'tnx cosN --table --separator --output-separator',
  fold: 'bs w',
  rev: '- -',
  od: 'abcdfilosvx ANjtw',
  hexdump: 'bcCdovx ns',
  xxd: 'abEiu cglos',
  base64: 'diD w --decode --wrap',
  md5sum: 'bctz - --check --quiet --status',
  sha1sum: 'bctz - --check --quiet --status',
  sha256sum: 'bctz - --check --quiet --status',
  sha512sum: 'bctz - --check --quiet --status',
  realpath: 'emsLPqz -',
  readlink: 'efmnqsvz -',
  cd: 'LPe -',
  mkdir: 'pv - --parents --verbose',
  sleep: '- -',
  xargs: '0rtx nPLIsdE --null --no-run-if-empty --max-args --max-procs --max-lines',
  time: 'p -',
  nice: '# n --adjustment',
  timeout: 'v ks --kill-after --signal --preserve-status --foreground',
  read: 'rs dnpt',
  git: 'P - --no-pager --version --help',
  'git status':
    'bsuvz - --ahead-behind --branch --ignored --long --no-renames --porcelain --short --show-stash --untracked-files',
  'git log':
    'pgrsuz#icEFP nLSGU --abbrev-commit --after --all --all-match --author --before --branches --cc --color --committer --count --date --date-order --decorate --diff-filter --first-parent --follow --format --graph --grep --invert-grep --left-right --max-count --merges --name-only --name-status --no-color --no-decorate --no-ext-diff --no-merges --no-patch --no-renames --numstat --oneline --parents --patch --pretty --raw --reflog --regexp-ignore-case --remotes --reverse --shortstat --since --skip --stat --summary --tags --topo-order --until --word-diff',
  'git diff':
    'pRabwzuM UCSG --abbrev --cached --check --color --color-words --compact-summary --diff-filter --exit-code --function-context --histogram --ignore-all-space --ignore-blank-lines --ignore-space-change --merge-base --minimal --name-only --name-status --no-color --no-ext-diff --no-patch --no-prefix --no-renames --numstat --patch --patience --quiet --raw --relative --shortstat --staged --stat --submodule --summary --unified --word-diff',
  'git show':
    'psuzw U --abbrev-commit --color --decorate --format --name-only --name-status --no-color --no-ext-diff --no-patch --numstat --oneline --patch --pretty --quiet --raw --shortstat --stat --summary --unified --word-diff',
  'git branch':
    'arv - --all --color --contains --format --list --merged --no-color --no-contains --no-merged --points-at --remotes --show-current --sort --verbose -vv',
  'git blame': 'befhlnpstwCM L --color-lines --date --incremental --line-porcelain --porcelain --since',
  'git grep':
    'acEFGhHiIlLnopPqvwW# ABCef --and --break --cached --color --column --count --files-with-matches --heading --ignore-case --line-number --max-depth --not --only-matching --or --untracked --word-regexp',
  'git ls-files':
    'cdikmostuvz xX --cached --deleted --exclude --exclude-standard --full-name --ignored --modified --others --stage --unmerged',
  'git ls-tree': 'drtlz - --full-name --full-tree --long --name-only --name-status --object-only',
  'git rev-parse':
    'q - --abbrev-ref --all --git-dir --is-inside-work-tree --short --show-prefix --show-toplevel --symbolic --verify',
  'git rev-list':
    '# n --all --count --first-parent --left-right --max-count --merges --no-merges --objects --reverse --since --until',
  'git describe':
    '- - --abbrev --all --always --candidates --contains --dirty --exact-match --first-parent --long --match --tags',
  'git shortlog': 'cens - --email --group --numbered --summary --since --until',
  'git reflog': 'z#n - --all --date --format --oneline --pretty',
  'git remote': 'v - --verbose',
  'git tag': 'l n --column --contains --format --list --merged --no-merged --points-at --sort',
  'git stash': 'pu - --stat --patch --include-untracked --oneline',
  'git cat-file': 'pste - --batch-check',
  'git check-ignore': 'vnqz - --verbose --no-index',
  'git config': 'lz - --get --get-all --get-regexp --list --name-only --show-origin --show-scope',
  'git add': 'Anuv - --all --dry-run --update --verbose --intent-to-add',
  'git commit': 'aqsv m --all --dry-run --message --no-edit --quiet --signoff --verbose',
  'git fetch': 'apqtv - --all --depth --dry-run --prune --quiet --tags --verbose',
};
