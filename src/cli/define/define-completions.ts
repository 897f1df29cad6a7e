import { Argument } from 'commander';
import type { DefineCommand } from './command-group.js';

export type Shell = 'bash' | 'zsh' | 'fish';

/** `completions SHELL` prints the script; the script asks `complete -- WORDS…`, which nobody types. */
export const defineCompletions: DefineCommand = (program, context, finish) => {
  program
    .command('completions')
    .summary('a script that completes commands, options and tool names')
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
      const { completionScript } = await import('../commands/completions.js');
      context.stdio.stdout.write(completionScript(shell));
      finish(0);
    });
  program
    .command('complete', { hidden: true })
    .argument('[word...]', 'what was typed so far')
    .action(async (words: readonly string[]) => {
      const { writeCompletions } = await import('../commands/complete.js');
      writeCompletions(program, words, context.stdio.stdout);
      finish(0);
    });
};
