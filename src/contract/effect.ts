/**
 * What is said of each kind of effect, besides its kind. A new kind starts here: the compiler then asks for its row in
 * `effects/effect-kinds.ts`, and for every place that must tell kinds apart.
 */
export interface EffectFields {
  readonly read: { readonly path: string };
  readonly write: { readonly path: string };
  readonly delete: { readonly path: string };
  /** A command line, and the shell that reads it: no other shell may run it. */
  readonly run: { readonly command: string; readonly shell: 'sh' | 'bash'; readonly cwd?: string };
  /** A background shell of this executor. `access: 'read'` only reads its output; left out, it may be ended too. */
  readonly process: { readonly id: string; readonly access?: 'read' };
  /** A tool of a remote service. Left out, `resource` is any resource of the server. */
  readonly call: {
    readonly server: string;
    readonly tool: string;
    readonly access: 'read' | 'write' | 'destroy';
    readonly resource?: string;
  };
  readonly fetch: { readonly url: string };
  /** Speaks to the person. */
  readonly ask: Readonly<Record<never, never>>;
  /** Cannot be told before it runs: treated as the most dangerous of all. */
  readonly unknown: Readonly<Record<never, never>>;
}

export type EffectKind = keyof EffectFields;

/**
 * What a call will touch, said before it runs. The plan, the policy, the approval, the sandbox, the scheduler,
 * hooks, cache and audit all read this one declaration.
 */
export type Effect<K extends EffectKind = EffectKind> = {
  readonly [P in K]: { readonly kind: P } & EffectFields[P];
}[K];

/**
 * What can still happen: containment counts. A command in a transaction with the network off is at most `medium`, and `low`
 * where its analysis sees nothing but reads.
 */
export type Risk = 'low' | 'medium' | 'high';

/** What stands around a call, and what of it can be taken back. */
export interface Containment {
  /** Nothing that it changes is real before its end, and then all of it or nothing. */
  readonly transaction: boolean;
  /** It can reach the network. */
  readonly network: boolean;
  /**
   * `toolexec undo` can take back what it changes: the journal keeps what a command in a transaction has changed, and what a
   * file tool is about to change. False for a call that changes no file.
   */
  readonly undo: boolean;
}
