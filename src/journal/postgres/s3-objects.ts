import { loadPeer } from '../../base/load-peer.js';
import { isFilledText, normalizeOptions, type OptionRules, option } from '../../base/normalize-options.js';
import type { ObjectStore } from '../../contract/object-store.js';
import { ToolError } from '../../errors/tool-error.js';
import { pause } from '../../platform/clock/clock.js';
import {
  isSuccess,
  reasonOfFailure,
  sendWhole,
  type WholeAnswer,
} from '../../platform/runtime/send-whole.js';
import { sha256 } from '../records/stored-content.js';

export interface S3ObjectsOptions {
  /**
   * The address of the service: `https://s3.eu-central-1.amazonaws.com`, or another service with the same interface.
   */
  readonly endpoint: string;
  /** An existing bucket. */
  readonly bucket: string;
  /** Default `us-east-1`, which most other services accept. */
  readonly region?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** For temporary credentials. */
  readonly sessionToken?: string;
  /** The maximum time of one request, in milliseconds. Default 10,000; a failed request is sent at most three times. */
  readonly timeoutMs?: number;
}

type Given = Required<Omit<S3ObjectsOptions, 'sessionToken'>> & { readonly sessionToken: string | undefined };

const TEXT = 'a text that is not empty';
const OPTIONS: OptionRules<Given> = {
  endpoint: option(
    '',
    (value) => typeof value === 'string' && /^https?:\/\//.test(value),
    'an http or https address',
  ),
  bucket: option(
    '',
    (value) => typeof value === 'string' && /^[\w.-]{3,255}$/.test(value),
    'the name of a bucket',
  ),
  region: option('us-east-1', isFilledText, TEXT),
  accessKeyId: option('', isFilledText, TEXT),
  secretAccessKey: option('', isFilledText, TEXT),
  sessionToken: option<string | undefined>(undefined, isFilledText, TEXT),
  timeoutMs: option(
    10_000,
    (value) => Number.isFinite(value) && Number(value) >= 1,
    'a number of milliseconds, 1 or more',
  ),
};
const NEEDED = ['endpoint', 'bucket', 'accessKeyId', 'secretAccessKey'] as const;

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;

/**
 * Objects in a bucket behind the HTTP interface of S3, for `postgresJournal({ objects })`. The address of an object is
 * `ENDPOINT/BUCKET/KEY`.
 *
 * @throws ToolError `config_invalid` for a wrong option, or if the package `aws4fetch` is not installed
 */
export async function s3Objects(options: S3ObjectsOptions): Promise<ObjectStore> {
  const given = normalizeOptions('s3Objects', options, OPTIONS);
  for (const name of NEEDED) {
    if (given[name] === '') throw new ToolError('config_invalid', `s3Objects needs \`${name}\`.`);
  }
  const peer = { name: 'aws4fetch', range: '^1.0.20' };
  const { AwsClient } = await loadPeer('s3Objects of toolexec/fleet', peer, () => import('aws4fetch'));
  const { accessKeyId, secretAccessKey, sessionToken, region, timeoutMs } = given;
  const client = new AwsClient({
    ...{ accessKeyId, secretAccessKey, region, service: 's3' },
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  const name = `${given.endpoint.replace(/\/+$/, '')}/${given.bucket}`;
  const send = async (method: 'PUT' | 'GET' | 'DELETE', key: string, body?: Uint8Array): Promise<Answer> => {
    // Part of the signature, so the service compares it with the received content.
    const headers = { 'x-amz-content-sha256': sha256(body ?? '') };
    for (let attempt = 1; ; attempt++) {
      const answer = await answerOf(async () => {
        const request = await client.sign(`${name}/${key}`, {
          ...{ method, headers, signal: AbortSignal.timeout(timeoutMs) },
          ...(body === undefined ? {} : { body: Buffer.from(body) }),
        });
        return sendWhole(request);
      });
      if (!answer.isPassing || attempt === ATTEMPTS) return answer;
      await pause(FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2));
    }
  };
  return {
    name,
    async put(key, bytes) {
      const answer = await send('PUT', key, bytes);
      if (answer.failure !== undefined) throw new Error(`Cannot write to ${name}: ${answer.failure}`);
    },
    async get(key) {
      const answer = await send('GET', key);
      if (answer.isMissing) return undefined;
      if (answer.failure !== undefined) throw new Error(`Cannot read from ${name}: ${answer.failure}`);
      return answer.body;
    },
    async delete(key) {
      const answer = await send('DELETE', key);
      if (answer.failure === undefined || answer.isMissing) return;
      throw new Error(`Cannot delete from ${name}: ${answer.failure}`);
    },
  };
}

interface Answer {
  /** Undefined: the request succeeded. */
  readonly failure?: string;
  /** Whether another attempt may succeed. */
  readonly isPassing: boolean;
  /** There is no object with this key; false if the bucket is missing. */
  readonly isMissing: boolean;
  readonly body: Uint8Array;
}

const NOTHING = new Uint8Array();

async function answerOf(send: () => Promise<WholeAnswer>): Promise<Answer> {
  try {
    const answer = await send();
    const { status, body } = answer;
    if (isSuccess(answer)) return { isPassing: false, isMissing: false, body };
    const code = /<Code>(\w+)<\/Code>/.exec(Buffer.from(body.subarray(0, 2_000)).toString())?.[1];
    return {
      failure: `the service answers ${status}${code === undefined ? '' : ` ${code}`}`,
      isPassing: status >= 500 || status === 429,
      isMissing: status === 404 && code !== 'NoSuchBucket',
      body: NOTHING,
    };
  } catch (error) {
    return { failure: reasonOfFailure(error), isPassing: true, isMissing: false, body: NOTHING };
  }
}
