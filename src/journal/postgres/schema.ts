import { LIVE_TEXTS } from './live-texts.js';
import { ACCEPT, HOLDER, NEVER_RUN } from './schema-accept.js';
import { CHANGES } from './schema-changes.js';
import { CLAIMANTS, CONVERSATIONS, HELD_SESSIONS, PROGRESS, SESSIONS } from './schema-progress.js';
import { OBJECTS, PRUNE, REFERENCES } from './schema-prune.js';
import { FAIR_QUEUE } from './schema-queue.js';
import { LABEL_QUOTAS, QUOTAS } from './schema-quotas.js';
import { READS } from './schema-reads.js';
import { TABLES } from './schema-tables.js';

/**
 * The schema, as steps that are only ever appended: step n makes version n + 1 of version n. A released step is never
 * changed. Steps only add: processes of the previous version keep running next to those of this version, so a changed
 * function gets the next number in its name. A function is replaced only if it keeps its meaning.
 */
export const STEPS: readonly string[] = [
  [TABLES, HOLDER, ACCEPT, PROGRESS, CONVERSATIONS, SESSIONS].join('\n'),
  QUOTAS,
  LIVE_TEXTS,
  PRUNE,
  OBJECTS,
  CLAIMANTS,
  CHANGES,
  LABEL_QUOTAS,
  REFERENCES,
  FAIR_QUEUE,
  READS,
  NEVER_RUN,
  HELD_SESSIONS,
];
