import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, EXIT_CODES } from '../src/errors/catalogue.js';

const document = readFileSync(join(import.meta.dirname, '..', 'docs', 'errors.md'), 'utf8');

describe('the error catalogue', () => {
  it('holds exactly these codes; a code is never taken away', () => {
    expect(Object.keys(ERROR_CATALOGUE)).toEqual([
      'bad_args',
      'unknown_tool',
      'duplicate_tool',
      'duplicate_tool_call_id',
      'limit_exceeded',
      'tools_disabled',
      'policy_disabled',
      'denylisted',
      'policy_denied',
      'sandbox_violation',
      'security_violation',
      'approval_unavailable',
      'user_denied',
      'timeout',
      'cancelled',
      'execution_failed',
      'tool_panicked',
      'invalid_tool_output',
      'spawn_failed',
      'schema_fetch_failed',
      'patch_failed',
      'stale_file',
      'max_iterations',
      'circuit_open',
      'outcome_unknown',
      'journal_unavailable',
      'config_invalid',
      'already_decided',
      'unknown_batch',
      'conflict',
      'url_blocked',
      'fetch_failed',
      'too_large',
      'expired',
      'quota_exceeded',
    ]);
  });

  it('and docs/errors.md name the same codes, both ways', () => {
    const documented = [...document.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code);
    expect(documented).toEqual(Object.keys(ERROR_CATALOGUE));
  });

  it('and docs/errors.md name the same exit codes, in the order in which they win', () => {
    const documented = [...document.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(documented).toEqual(Object.values(EXIT_CODES).map(({ code }) => code));
    expect(documented).toEqual([2, 130, 4, 3, 1, 0]);
  });
});
