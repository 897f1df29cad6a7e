/**
 * The fields of each kind of effect. To add a kind, start here: the compiler then asks for its row in
 * `effects/effect-kinds.ts` and finds every place that distinguishes kinds.
 */
export interface EffectFields {
  readonly read: { readonly path: string };
  readonly write: { readonly path: string };
  readonly delete: { readonly path: string };
  /** A command line and its shell. No other shell may run it. */
  readonly run: { readonly command: string; readonly shell: 'sh' | 'bash'; readonly cwd?: string };
  /**
   * A background shell of this executor. `access: 'read'` only reads its output; without it the shell may
   * also be ended.
   */
  readonly process: { readonly id: string; readonly access?: 'read' };
  /** A tool of a remote service. Without `resource`, the call may touch any resource of the server. */
  readonly call: {
    readonly server: string;
    readonly tool: string;
    readonly access: 'read' | 'write' | 'destroy';
    readonly resource?: string;
  };
  readonly fetch: { readonly url: string };
  /** Speaks to the person. */
  readonly ask: Readonly<Record<never, never>>;
  /** The effects are not known before the tool runs. Treated as the most dangerous kind. */
  readonly unknown: Readonly<Record<never, never>>;
}

export type EffectKind = keyof EffectFields;

/**
 * An effect of a call, declared before it runs. Planning, policy, approval, sandbox, scheduler, hooks, cache
 * and audit all read this one declaration.
 */
export type Effect<K extends EffectKind = EffectKind> = {
  readonly [P in K]: { readonly kind: P } & EffectFields[P];
}[K];

/**
 * The possible damage after containment. A command in a transaction with the network off is at most `medium`,
 * and `low` if its analysis finds only reads.
 */
export type Risk = 'low' | 'medium' | 'high';

/** How a call is contained, and whether it can be undone. */
export interface Containment {
  /** Changes are committed at the end of the call, all or none. */
  readonly transaction: boolean;
  /** The call can reach the network. */
  readonly network: boolean;
  /**
   * `toolexec undo` can undo the changes: the journal keeps the previous content for file tools and for
   * commands in a transaction. False for a call that changes no file.
   */
  readonly undo: boolean;
}
