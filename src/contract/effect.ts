/**
 * What a call will touch, said before it runs. The plan, the policy, the approval, the sandbox, the scheduler,
 * hooks, cache and audit all read this one declaration.
 */
export type Effect =
  | { readonly kind: 'read' | 'write' | 'delete'; readonly path: string }
  | { readonly kind: 'run'; readonly command: string; readonly cwd?: string }
  | { readonly kind: 'fetch'; readonly url: string }
  /** Speaks to the person. */
  | { readonly kind: 'ask' }
  /** Cannot be told before it runs: treated as the most dangerous of all. */
  | { readonly kind: 'unknown' };

export type Risk = 'low' | 'medium' | 'high';
