import { createHash } from 'node:crypto';
import { abortable } from '../../base/abortable.js';
import type { Plan, ShownFile } from '../../contract/approval.js';
import type { ContainedFiles, FileChange } from '../../contract/files.js';
import type { PicturePart } from '../../contract/picture.js';
import { reasonOf } from '../answer/results.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import { grantFilesToLook } from '../call/grant-files.js';
import { Lease } from '../call/lease.js';
import type { ApprovalSettings } from '../call/settings.js';
import { runInScope } from '../call/unhandled-errors.js';
import { toPlan } from '../plan/to-plan.js';
import { commandPart } from './command-part.js';

/** Larger files are not shown: no person reads a million characters. */
const MOST_BYTES = 1024 * 1024;
/** A preview should never take longer than this. */
const PREVIEW_MS = 5_000;

/**
 * The parts that a person can see of a call before it runs: its file changes, and its command lines split
 * into simple commands. Never rejects: a part that cannot be computed is replaced by one that states the
 * problem.
 * @param shown the contents to which consent will be bound; if a file no longer has its content, its part
 * states that
 */
export async function pictureParts(
  ready: ReadyCall,
  shown: readonly ShownFile[],
  settings: ApprovalSettings,
): Promise<readonly PicturePart[]> {
  const parts: PicturePart[] = [];
  for (const effect of ready.declared) {
    if (effect.kind === 'run') parts.push(await commandPart(effect));
    if (effect.kind === 'fetch') parts.push({ kind: 'url', url: effect.url });
  }
  if (ready.tool.previewChanges !== undefined) parts.push(...(await previewParts(ready, shown, settings)));
  // If there is no other part to show, show the arguments.
  if (parts.every(({ kind }) => kind === 'problem')) parts.push({ kind: 'arguments', json: ready.call.args });
  return parts;
}

/** Returns a plan in which each call that requires confirmation has the picture that the person would see. */
export async function picturePlan(
  planned: readonly EvaluatedCall[],
  settings: ApprovalSettings,
): Promise<Plan> {
  const { calls } = toPlan(planned);
  return {
    calls: await Promise.all(
      calls.map(async (call, index) => {
        const ready = planned[index];
        if (ready?.kind !== 'ready' || !ready.needsApproval) return call;
        return { args: ready.call.args, parts: await pictureParts(ready, [], settings), ...call };
      }),
    ),
  };
}

async function previewParts(
  ready: ReadyCall,
  shown: readonly ShownFile[],
  settings: ApprovalSettings,
): Promise<readonly PicturePart[]> {
  const lease = new Lease();
  const stop = new AbortController();
  const forget = settings.clock.after(PREVIEW_MS, () =>
    stop.abort(new Error(`the tool does not say within ${PREVIEW_MS / 1000} s what it would change`)),
  );
  try {
    const files = grantFilesToLook(ready, settings, lease);
    const context = Object.freeze({ cwd: settings.sandbox.cwd, files, signal: stop.signal });
    const changes = await abortable(
      () =>
        new Promise<readonly FileChange[]>((resolve, reject) => {
          const ask = async (): Promise<readonly FileChange[]> =>
            (await ready.tool.previewChanges?.(ready.parsed, context)) ?? [];
          runInScope({ unhandledError: reject }, ask).then(resolve, reject);
        }),
      stop.signal,
    );
    const parts: PicturePart[] = [];
    const moved = new Set(
      changes.flatMap(({ bytes, like }) => (bytes !== null && like !== undefined ? [like] : [])),
    );
    for (const change of changes) {
      // The part for the other end of the move shows both names.
      if (change.bytes === null && moved.has(change.path)) continue;
      parts.push(await changePart(change, changes, shown, files));
    }
    return parts;
  } catch (error) {
    return [{ kind: 'problem', text: reasonOf(error) }];
  } finally {
    forget();
    lease.end();
    stop.abort(new Error('the preview is over'));
  }
}

async function changePart(
  { path, bytes, like }: FileChange,
  changes: readonly FileChange[],
  shown: readonly ShownFile[],
  files: ContainedFiles,
): Promise<PicturePart> {
  const from = changes.some((other) => other.path === like && other.bytes === null) ? like : undefined;
  const source = from ?? path;
  const tooLarge = (bytesBefore: number | undefined): PicturePart => {
    const why = 'it is too large to be shown';
    return { kind: 'unshown', path, why, bytesBefore, bytesAfter: bytes?.length };
  };
  const size = await sizeOf(source, files);
  if (Math.max(size ?? 0, bytes?.length ?? 0) > MOST_BYTES) return tooLarge(size);
  const before = await readWhole(source, files);
  // The file was reached through a link, whose own size says nothing about the content.
  if (before !== undefined && before.length > MOST_BYTES) return tooLarge(undefined);
  const canonical = files.resolve?.(source) ?? source;
  const bound = shown.find((file) => file.path === canonical);
  if (before !== undefined && bound !== undefined && bound.hash !== sha256(before)) {
    return { kind: 'problem', text: `${source} is changing while it is read.` };
  }
  return contentPart(path, before, bytes, from);
}

/** Shows a file by its old and new content; undefined content means that there is no file. */
export function contentPart(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array | null | undefined,
  from?: string,
): PicturePart {
  const [textBefore, textAfter] = [textOf(before), textOf(after)];
  if (textBefore === false || textAfter === false) {
    const sizes = { bytesBefore: before?.length, bytesAfter: after?.length };
    return { kind: 'unshown', path, why: 'it is not text', ...sizes };
  }
  if (textBefore === undefined) return { kind: 'file', path, text: textAfter ?? '' };
  return {
    kind: 'diff',
    path,
    before: textBefore,
    after: textAfter,
    ...(from === undefined ? {} : { from }),
  };
}

async function sizeOf(path: string, files: ContainedFiles): Promise<number | undefined> {
  try {
    return (await files.stat(path)).size;
  } catch {
    return undefined;
  }
}

async function readWhole(path: string, files: ContainedFiles): Promise<Uint8Array | undefined> {
  try {
    return await files.read(path, { length: MOST_BYTES + 1 });
  } catch {
    return undefined;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined if there is no file; false if the content is not text or is too large. */
export function textOf(bytes: Uint8Array | null | undefined): string | false | undefined {
  if (bytes === undefined || bytes === null) return undefined;
  if (bytes.length > MOST_BYTES || bytes.includes(0)) return false;
  try {
    return DECODER.decode(bytes);
  } catch {
    return false;
  }
}
