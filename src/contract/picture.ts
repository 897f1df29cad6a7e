import type { ChangedEntry } from './changes.js';
import type { Containment, Effect, Risk } from './effect.js';
import type { JsonObject } from './json.js';
import type { Lights } from './origin.js';

/**
 * A description of a call for a person. The terminal, the HTML page and other programs draw the same picture.
 */
export interface Picture {
  /** One line: the tool and its summary. Control characters are neutralized, secrets redacted. */
  readonly title: string;
  readonly risk: Risk;
  /** Absent if unknown. */
  readonly containment?: Containment;
  /** Why the call needs approval, or does not. One line. */
  readonly reason: string;
  /** The three lights that together mean data could leak. Absent while the model has seen nothing. */
  readonly lights?: Lights;
  readonly effects: readonly Effect[];
  /** The risk is high, so one key is not enough to approve. */
  readonly dangerous: boolean;
  readonly parts: readonly PicturePart[];
}

/**
 * One part of a picture. Texts are unchanged from files and arguments: a surface that draws them must
 * neutralize control characters.
 */
export type PicturePart =
  /** A changed text file: `after` is undefined if it is removed; `from` is its old name if it is moved. */
  | {
      readonly kind: 'diff';
      readonly path: string;
      readonly before: string;
      readonly after: string | undefined;
      readonly from?: string;
    }
  /** A new text file. */
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  /** A changed file that is not text, or too large to show. Sizes in bytes; undefined if there is no file. */
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
  /** The call would fail, or its changes are not known. */
  | { readonly kind: 'problem'; readonly text: string };

/** A command line. */
export interface CommandPart {
  readonly kind: 'command';
  readonly text: string;
  readonly shell: 'sh' | 'bash';
  readonly cwd?: string;
  /** The parts to highlight, in order. They may overlap. */
  readonly marks: readonly CommandMark[];
  /**
   * All effects that the analysis finds in the line, including redirections. Relative paths start at the
   * call's directory.
   */
  readonly touches: readonly Effect[];
  /** Each simple command of the line. */
  readonly commands: readonly PicturedCommand[];
}

export interface PicturedCommand {
  readonly words: readonly string[];
  /** The files and hosts that the command names, including its redirections and the commands it starts. */
  readonly touches: readonly Effect[];
  /** It may touch more than its words show: the program is unknown, or decides itself. */
  readonly isUntold?: true;
}

/**
 * The changes that calls made, before the commit: every path. The texts of files are separate parts, `diff`
 * and `file`.
 */
export interface ChangesPart {
  readonly kind: 'changes';
  /** Sorted by path. */
  readonly entries: readonly ChangedEntry[];
  /** Paths that the commit does not change. */
  readonly notKept: readonly { readonly path: string; readonly reason: string }[];
}

/** A range in UTF-16 units (the end is exclusive), and the reason. */
export interface CommandMark {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}
