import { createHash, randomBytes } from 'node:crypto';
import type { ConversationFact, Journal } from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { FLEET_TOKENS } from '../journal/records/reserved-conversations.js';
import { isSameSecret } from '../platform/runtime/admit-request.js';

/** The rights that a token can have. */
export const TOKEN_SCOPES = ['submit', 'approve', 'watch'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** A token as it is stored: only the SHA-256 of its secret. */
export interface FleetToken {
  readonly id: string;
  readonly tenant: string;
  readonly scopes: readonly TokenScope[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly revokedAt?: number;
}

type StoredToken = Omit<FleetToken, 'id'> & { readonly hash: string };

/** `tx_ID_SECRET` */
const TOKEN = /^tx_([0-9a-f]{12})_([A-Za-z0-9_-]{43})$/;
const TENANT = /^[\w.-]{1,64}$/;

/**
 * The tokens of a journal. Every process with the journal can create and revoke them, and a running server notices this
 * at its next request.
 */
export class FleetTokens {
  readonly #journal: Journal;
  readonly #known = new Map<string, StoredToken>();
  #mark: number | undefined;

  /** @throws ToolError `config_invalid` for a journal that keeps no facts */
  constructor(journal: Journal) {
    if (journal.remember === undefined || journal.recall === undefined) {
      throw new ToolError('config_invalid', 'options.journal cannot keep tokens: it remembers no facts.');
    }
    this.#journal = journal;
  }

  /** @returns the text of the token, which is not stored and cannot be shown again */
  async create(
    tenant: string,
    scopes: readonly TokenScope[],
    now: number,
  ): Promise<FleetToken & { readonly text: string }> {
    if (!TENANT.test(tenant)) {
      throw new ToolError(
        'bad_args',
        `Cannot create a token for the tenant ${JSON.stringify(tenant)}: a name of A-Z, a-z, 0-9, ., _ and -, at most 64 characters, is expected.`,
      );
    }
    const id = randomBytes(6).toString('hex');
    const secret = randomBytes(32).toString('base64url');
    const token = { tenant, scopes: TOKEN_SCOPES.filter((scope) => scopes.includes(scope)), createdAt: now };
    await this.#store(id, { ...token, hash: hashOf(secret) }, now);
    return { ...token, id, text: `tx_${id}_${secret}` };
  }

  /** In the order of their creation. */
  async list(): Promise<readonly FleetToken[]> {
    await this.#refresh();
    const all = [...this.#known].map(([id, stored]) => toToken(id, stored));
    return all.sort((a, b) => a.createdAt - b.createdAt);
  }

  /** @returns whether the token exists. A revoked token stays revoked. */
  async revoke(id: string, now: number): Promise<boolean> {
    await this.#refresh();
    const token = this.#known.get(id);
    if (token === undefined) return false;
    if (token.revokedAt === undefined) await this.#store(id, { ...token, revokedAt: now }, now);
    return true;
  }

  /** The token with this text; undefined if it is unknown or revoked. */
  async find(text: string): Promise<FleetToken | undefined> {
    const [, id = '', secret = ''] = TOKEN.exec(text) ?? [];
    if (id === '') return undefined;
    await this.#refresh();
    const token = this.#known.get(id);
    if (token === undefined || token.revokedAt !== undefined) return undefined;
    return isSameSecret(hashOf(secret), token.hash) ? toToken(id, token) : undefined;
  }

  async #store(id: string, token: StoredToken, at: number): Promise<void> {
    await this.#journal.remember?.(FLEET_TOKENS, [{ key: id, value: { ...token }, at }]);
  }

  async #refresh(): Promise<void> {
    const recalled = await this.#journal.recall?.(FLEET_TOKENS, this.#mark);
    for (const fact of recalled?.facts ?? []) this.#learn(fact);
    this.#mark = recalled?.mark ?? this.#mark;
  }

  #learn({ key, value }: ConversationFact): void {
    // Only `#store` writes it.
    const token = value as unknown as StoredToken;
    const known = this.#known.get(key);
    // An older copy of the journal may come back: a revoked token stays revoked.
    if (known?.revokedAt === undefined) this.#known.set(key, token);
  }
}

function toToken(id: string, { tenant, scopes, createdAt, revokedAt }: StoredToken): FleetToken {
  return { id, tenant, scopes, createdAt, ...(revokedAt === undefined ? {} : { revokedAt }) };
}

/** The secret has 256 random bits, so a fast hash is enough. */
function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
