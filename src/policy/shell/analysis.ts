import type { Effect } from '../../contract/effect.js';
import type { WordMark } from './words/findings.js';

/** What a command line would do, as far as its text tells. */
export interface CommandAnalysis {
  /** `block`: destroys the machine. `ask`: not understood for certain. `allow`: understood; it approves nothing (F027). */
  readonly verdict: 'allow' | 'ask' | 'block';
  /** Why it is not `allow`; the reasons for a `block` come first, and say "blocked" and "dangerous". */
  readonly reasons: readonly string[];
  /** Every simple command found anywhere, as words without quotes; words that are not known as they are written. */
  readonly commands: readonly (readonly string[])[];
  /** Files and hosts that are named; relative paths from where the command starts, `~` for the home directory. */
  readonly effects: readonly Effect[];
  /** What stands before commands, or alone, and changes what programs do. */
  readonly settings?: readonly CommandSetting[];
  /** Of each of `commands`, at the same place: what was found in it, its redirections included. */
  readonly found?: readonly CommandFound[];
}

/** What one simple command would do, with what it starts. */
export interface CommandFound {
  readonly effects: readonly Effect[];
  /** Those of the analysis's reasons that it is the cause of. */
  readonly reasons: readonly string[];
  /** It may touch more than its words tell: the program is not known, or decides by itself. */
  readonly isUntold: boolean;
  /** What its own words touch, without the redirections of its line; left out: `effects`. */
  readonly touches?: readonly Effect[];
  /** Of each of its words, at the same place: what its text does not tell. Left out: they are what they say. */
  readonly marks?: readonly (WordMark | undefined)[];
  /** Files and directories, with all below them, whose content it reads: as in its effects. */
  readonly reads?: readonly string[];
}

/**
 * `NAME=value` before a command, or without one; `PWD=dir` where a program that goes by its directory runs, `PWD=.` where
 * the call starts. A rule that allows has to spell each.
 */
export interface CommandSetting {
  readonly texts: readonly string[];
  /** One of `commands`, the same object. */
  readonly command?: readonly string[];
}

/** Understands a command line; `sh` is any that may be called so: what only bash knows is asked about. Pure; never throws. */
export type AnalyzeCommand = (text: string, shell?: 'bash' | 'sh') => CommandAnalysis;
