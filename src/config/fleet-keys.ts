import { addressOf, isPostgresAddress } from '../journal/postgres/address.js';
import { CALLS_OF_LABELS, CALLS_OF_TOOLS } from './by-tool.js';
import type { ConfigKey } from './config-key.js';
import { never } from './tighten.js';
import {
  HTTP_ADDRESS,
  mustBe,
  SECONDS,
  textList,
  VARIABLE,
  type ValueKind,
  wholeNumber,
} from './value-kind.js';

const ADDRESS_EXPECTED = 'an address such as "postgres://USER:PASSWORD@HOST:PORT/DATABASE"';

/** The address may contain a password, so no message repeats it. */
const POSTGRES_ADDRESS: ValueKind = {
  expected: ADDRESS_EXPECTED,
  schema: { type: 'string', pattern: '^[Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss](?:[Qq][Ll])?://' },
  flaws: (value) => (isAddress(value) ? [] : [{ at: [], problem: ` must be ${ADDRESS_EXPECTED}.` }]),
  toOption: (value) => value,
  fromText: (text) => text,
  shown: (value) => (isAddress(value) ? addressOf(String(value)) : 'an address'),
};

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && isPostgresAddress(value) && URL.canParse(value);
}

const TENANT_EXPECTED = 'a name of A-Z, a-z, 0-9, ., _ and -, at most 64 characters';
const TENANT_NAME = /^[\w.-]{1,64}$/;

const TENANT: ValueKind = {
  expected: TENANT_EXPECTED,
  schema: { type: 'string', pattern: TENANT_NAME.source },
  flaws: (value) =>
    typeof value === 'string' && TENANT_NAME.test(value) ? [] : [mustBe(TENANT_EXPECTED, value)],
  toOption: (value) => value,
  fromText: (text) => text,
};

const LABELS = textList({
  expected: 'a list of labels, each in quotes',
  accepts: (text) => !text.includes('\0'),
  schema: {},
});

const LEASE_EXPECTED = 'a number of seconds from 0.1';

const LEASE: ValueKind = {
  ...SECONDS,
  expected: LEASE_EXPECTED,
  schema: { type: 'number', minimum: 0.1, maximum: 2_147_483 },
  flaws: (value) =>
    SECONDS.flaws(value).length === 0 && Number(value) >= 0.1 ? [] : [mustBe(LEASE_EXPECTED, value)],
};

const BUCKET_EXPECTED = 'the name of a bucket';
const BUCKET_NAME = /^[\w.-]{3,255}$/;

const BUCKET: ValueKind = {
  expected: BUCKET_EXPECTED,
  schema: { type: 'string', pattern: BUCKET_NAME.source },
  flaws: (value) =>
    typeof value === 'string' && BUCKET_NAME.test(value) ? [] : [mustBe(BUCKET_EXPECTED, value)],
  toOption: (value) => value,
  fromText: (text) => text,
};

const REGION_EXPECTED = 'the name of a region';
const REGION_NAME = /^[\w-]{1,64}$/;

const REGION: ValueKind = {
  ...BUCKET,
  expected: REGION_EXPECTED,
  schema: { type: 'string', pattern: REGION_NAME.source },
  flaws: (value) =>
    typeof value === 'string' && REGION_NAME.test(value) ? [] : [mustBe(REGION_EXPECTED, value)],
};

const CALLS = wholeNumber(1, 'calls');

/**
 * Settings for several machines: the database that they share, and the role of this machine. Only a trusted file may
 * set them.
 */
export const FLEET_KEYS: Readonly<Record<string, ConfigKey>> = {
  'fleet.url': {
    kind: POSTGRES_ADDRESS,
    fallback: undefined,
    option: 'fleet.url',
    meaning:
      'The Postgres database that holds the journal instead of a file, for all commands that run, decide or show calls; `--journal` replaces it. See fleet.md.',
    tighten: never,
  },
  'fleet.tenant': {
    kind: TENANT,
    fallback: 'default',
    option: 'fleet.tenant',
    meaning: "The owner of the records in that database: tenants do not see each other's records.",
    tighten: never,
  },
  'fleet.labels': {
    kind: LABELS,
    fallback: [],
    option: 'fleet.labels',
    meaning: 'The labels that `toolexec worker` offers; `--label` replaces them.',
    tighten: never,
  },
  'fleet.lease_seconds': {
    kind: LEASE,
    fallback: 30,
    option: 'fleet.leaseMs',
    meaning: 'How long the claims of `toolexec worker` are valid without a renewal; `--lease` replaces it.',
    tighten: never,
  },
  'fleet.start_deadline_seconds': {
    kind: SECONDS,
    fallback: 300,
    option: 'fleet.startDeadlineMs',
    meaning:
      'How long a call that `toolexec serve` has taken may wait for a worker, if its sender does not say; then it is `expired`.',
    tighten: never,
  },
  'fleet.objects.endpoint': {
    kind: HTTP_ADDRESS,
    fallback: undefined,
    option: 'fleet.objects.endpoint',
    meaning:
      'A service with the interface of S3 for contents of more than 1 MB, together with `bucket`. All processes of the fleet need the same setting.',
    tighten: never,
  },
  'fleet.objects.bucket': {
    kind: BUCKET,
    fallback: undefined,
    option: 'fleet.objects.bucket',
    meaning: 'The bucket, which must exist.',
    tighten: never,
  },
  'fleet.objects.region': {
    kind: REGION,
    fallback: 'us-east-1',
    option: 'fleet.objects.region',
    meaning: 'The region of the service; most services other than that of Amazon accept the default.',
    tighten: never,
  },
  'fleet.objects.access_key_env': {
    kind: VARIABLE,
    fallback: 'AWS_ACCESS_KEY_ID',
    option: 'fleet.objects.accessKeyEnv',
    meaning: 'The environment variable that holds the id of the access key.',
    tighten: never,
  },
  'fleet.objects.secret_key_env': {
    kind: VARIABLE,
    fallback: 'AWS_SECRET_ACCESS_KEY',
    option: 'fleet.objects.secretKeyEnv',
    meaning: 'The environment variable that holds the secret of the access key.',
    tighten: never,
  },
  'fleet.quotas.open': {
    kind: CALLS,
    fallback: undefined,
    option: 'fleet.quotas.open',
    meaning:
      'Open calls of a tenant that `toolexec serve` takes; a batch beyond them is refused with `quota_exceeded`.',
    tighten: never,
  },
  'fleet.quotas.running': {
    kind: CALLS,
    fallback: undefined,
    option: 'fleet.quotas.running',
    meaning:
      'Calls of a tenant that run at the same time, on all workers together. Others wait for their turn.',
    tighten: never,
  },
  'fleet.quotas.tools': {
    kind: CALLS_OF_TOOLS,
    fallback: undefined,
    option: 'fleet.quotas.tools',
    meaning: 'The same for single tools: `[fleet.quotas.tools]`, such as `deploy = 1`.',
    tighten: never,
  },
  'fleet.quotas.labels': {
    kind: CALLS_OF_LABELS,
    fallback: undefined,
    option: 'fleet.quotas.labels',
    meaning: 'The same for calls with a label: `[fleet.quotas.labels]`, such as `gpu = 2`.',
    tighten: never,
  },
};
