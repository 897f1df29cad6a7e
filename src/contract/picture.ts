import type { ChangedEntry } from './changes.js';
import type { Containment, Effect, Risk } from './effect.js';
import type { JsonObject } from './json.js';

/** What a call would do, for a person to look at: the same on the terminal, on a page and in another program. */
export interface Picture {
  /** One line: the tool and its summary. Controls are neutralised, secrets redacted. */
  readonly title: string;
  readonly risk: Risk;
  /** Left out: not known. */
  readonly containment?: Containment;
  /** Why it is asked for, or why not. One line. */
  readonly reason: string;
  readonly effects: readonly Effect[];
  /** One key is too little consent: the risk is high. */
  readonly dangerous: boolean;
  readonly parts: readonly PicturePart[];
}

/**
 * A part of a picture. Texts are as they are in files and arguments: a surface that draws them neutralises controls.
 */
export type PicturePart =
  /** A text file that would change: `after` undefined where it would go, `from` where it would come from another name. */
  | {
      readonly kind: 'diff';
      readonly path: string;
      readonly before: string;
      readonly after: string | undefined;
      readonly from?: string;
    }
  /** A text file that would be made. */
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  /** A file that would change and is no text, or too large to be shown. Bytes; undefined where there is no file. */
  | {
      readonly kind: 'unshown';
      readonly path: string;
      readonly why: string;
      readonly bytesBefore: number | undefined;
      readonly bytesAfter: number | undefined;
    }
  | CommandPart
  | ChangesPart
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'arguments'; readonly json: JsonObject }
  /** The call would fail, or what it would change cannot be told. */
  | { readonly kind: 'problem'; readonly text: string };

/** A command line. */
export interface CommandPart {
  readonly kind: 'command';
  readonly text: string;
  readonly shell: 'sh' | 'bash';
  readonly cwd?: string;
  /** What to look at, in order; they may overlap. */
  readonly marks: readonly CommandMark[];
  /** All that the analysis knows of the line, redirections included; paths start where the call does. */
  readonly touches: readonly Effect[];
  /** Each simple command in it. */
  readonly commands: readonly PicturedCommand[];
}

export interface PicturedCommand {
  readonly words: readonly string[];
  /** The files and hosts that it names, with its redirections and with the commands that it starts. */
  readonly touches: readonly Effect[];
  /** It may touch more than its words tell: the program is not known, or decides by itself. */
  readonly isUntold?: true;
}

/**
 * What calls have changed, before it is committed: every path. Texts of files are parts of their own, `diff` and
 * `file`.
 */
export interface ChangesPart {
  readonly kind: 'changes';
  /** Sorted by path. */
  readonly entries: readonly ChangedEntry[];
  /** What a commit leaves as it is. */
  readonly notKept: readonly { readonly path: string; readonly reason: string }[];
}

/** From where to where (UTF-16 units; the end is not part of it), and why. */
export interface CommandMark {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}
