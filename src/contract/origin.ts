import type { JsonObject } from './json.js';

/**
 * The source of data: words of a person or the host program (`user`), files of the roots (`workspace`), a
 * command, a program that is a tool, an MCP server, or a web host (`web:*`: any host, for a command with the
 * network on).
 */
export type Origin =
  | 'user'
  | 'workspace'
  | 'command'
  | `program:${string}`
  | `mcp:${string}`
  | `web:${string}`;

/** The origins that may have influenced a call. The results are searched when `args` or `places` are first read. */
export interface CallOrigins {
  /** The origins of everything that the model has seen in this conversation since the host last marked it clean. */
  readonly seen: readonly Origin[];
  /** Some texts are not known any more, for example those of older results: `args` cannot tell which arguments occur in them. */
  readonly isForgotten?: true;
  /** By JSON pointer: where the text of an argument was found. Arguments that were found nowhere are left out. */
  readonly args: Readonly<Record<string, readonly Origin[]>>;
  /** By JSON pointer, in words: `line 14 of toolu_01`. */
  readonly places: Readonly<Record<string, string>>;
}

/**
 * Three facts that together let data leak on the instructions of an untrusted text, each with its causes;
 * empty: the light is off. `private`: the model has read data that the person would not give away;
 * `untrusted`: it has seen text from outside; `out`: effects that can send data out.
 */
export interface Lights {
  readonly private: readonly Origin[];
  readonly untrusted: readonly Origin[];
  readonly out: readonly string[];
}

/** The origins of one conversation, as a plan asks for them. */
export interface OriginView {
  of(args: JsonObject): CallOrigins;
}
