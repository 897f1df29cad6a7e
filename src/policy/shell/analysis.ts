import type { Effect } from '../../contract/effect.js';
import type { WordMark } from './words/findings.js';

/** The effects of a command line, as far as its text shows them. */
export interface CommandAnalysis {
  /**
   * `block`: destroys the machine. `ask`: not understood with certainty. `allow`: understood; this is not an
   * approval (F027).
   */
  readonly verdict: 'allow' | 'ask' | 'block';
  /**
   * Why the verdict is not `allow`. The reasons for a `block` come first, and contain "blocked" and
   * "dangerous".
   */
  readonly reasons: readonly string[];
  /** Every simple command found anywhere, as words without quotes; unknown words as they are written. */
  readonly commands: readonly (readonly string[])[];
  /**
   * The files and hosts that are named. Relative paths start from where the command starts; `~` is the home
   * directory.
   */
  readonly effects: readonly Effect[];
  /** Assignments, before commands or alone, that change what programs do. */
  readonly settings?: readonly CommandSetting[];
  /** For each of `commands`, by index: the findings about it, including its redirections. */
  readonly found?: readonly CommandFound[];
}

/** The effects of one simple command, with the commands that it starts. */
export interface CommandFound {
  readonly effects: readonly Effect[];
  /** The reasons of the analysis that this command caused. */
  readonly reasons: readonly string[];
  /** It may touch more than its words show: the program is not known, or decides by itself. */
  readonly isUntold: boolean;
  /** The effects of its words, without its redirections. If absent: the same as `effects`. */
  readonly touches?: readonly Effect[];
  /** For each of its words, by index: what its text leaves open. If absent: nothing. */
  readonly marks?: readonly (WordMark | undefined)[];
  /** The files and directories (with everything below) whose content it reads, as in its effects. */
  readonly reads?: readonly string[];
}

/**
 * `NAME=value` before a command, or alone; `PWD=dir` for a program that depends on its directory, `PWD=.`
 * where the call starts. An allow rule has to contain each of them.
 */
export interface CommandSetting {
  readonly texts: readonly string[];
  /** The command it belongs to: the same object as in `commands`. */
  readonly command?: readonly string[];
}

/**
 * Analyzes a command line. `sh` stands for any shell of that name: syntax that only bash has is `ask`. Pure;
 * never throws.
 */
export type AnalyzeCommand = (text: string, shell?: 'bash' | 'sh') => CommandAnalysis;
