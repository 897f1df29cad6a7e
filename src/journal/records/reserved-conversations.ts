/**
 * The conversation whose facts are the tokens of `toolexec serve`. They are current for as long as they are not revoked,
 * so they are never pruned.
 */
export const FLEET_TOKENS = 'toolexec:fleet-tokens';
