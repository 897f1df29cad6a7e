import { Argument } from 'commander';
import type { DefineCommand } from '../cli-context.js';

type Shell = 'bash' | 'zsh' | 'fish';

export const define: DefineCommand = (command, context, finish) => {
  command
    .addArgument(new Argument('<shell>', 'which one').choices(['bash', 'zsh', 'fish']))
    .addHelpText(
      'before',
      `Examples:
  echo 'source <(toolexec completions bash)' >> ~/.bashrc
  toolexec completions zsh > "\${fpath[1]}/_toolexec"
  toolexec completions fish > ~/.config/fish/completions/toolexec.fish
`,
    )
    .action(async (shell: Shell) => {
      context.stdio.stdout.write(SCRIPTS[shell]);
      finish(0);
    });
};

/*
 * Each script passes the words as the shell has split them and evaluates nothing: an incomplete command line
 * must not run because of the tab key.
 */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for toolexec
_toolexec() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" value line places=none
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :*) places="\${line#:}" ;;
      *) value="\${line%%$'\\t'*}"; COMPREPLY+=("$value") ;;
    esac
  done < <(toolexec complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  case "$places" in
    files) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur") ;;
    directories) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur") ;;
  esac
}
complete -F _toolexec toolexec
`,
  zsh: `#compdef toolexec
_toolexec() {
  local line places=none
  local -a candidates
  while IFS= read -r line; do
    case "$line" in
      :*) places="\${line#:}" ;;
      *) candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(toolexec complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe toolexec candidates
  case "$places" in
    files) _files ;;
    directories) _files -/ ;;
  esac
}
if [ "\${funcstack[1]}" = _toolexec ]; then _toolexec "$@"; else compdef _toolexec toolexec; fi
`,
  fish: `# fish completion for toolexec
function __toolexec_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (toolexec complete -- $words[2..-1] 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path (commandline -ct)
      case ':directories'
        __fish_complete_directories (commandline -ct)
      case ':none'
      case '*'
        echo $line
    end
  end
end
complete -c toolexec -f -a '(__toolexec_complete)'
`,
};
