import type { ApprovalRequest } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { ConversationMemory } from '../contract/context.js';
import type { Preview, RunOptions } from '../contract/executor.js';
import type { PicturePart } from '../contract/picture.js';
import type { BackgroundShells } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { FILES_READ, FilesRead, filesRead } from '../tools/files-read.js';
import { toQuestion } from './approve/ask-approval.js';
import { changedParts } from './approve/changed-parts.js';
import { takeSnapshot } from './approve/shown-files.js';
import type { BatchScope } from './call/batch-scope.js';
import { confinementOf } from './call/program-confinement.js';
import type { ExecutorSettings, PreviewWorld } from './call/settings.js';
import { NotInPreview, PreviewReplay, PreviewTrial } from './execute/preview-roles.js';
import { copyOrigins } from './record/conversation-origins.js';

export interface PreviewParts {
  readonly calls: readonly ToolCall[];
  readonly options: RunOptions;
  readonly settings: ExecutorSettings;
  /** The memory of the conversation. */
  readonly memory: ConversationMemory;
  /** Runs the calls as a batch with the options in `part`. */
  readonly run: (options: RunOptions, part: BatchPart) => Promise<ToolResult[]>;
}

export type BatchPart = Pick<BatchScope, 'preview'> &
  Partial<Pick<BatchScope, 'settings' | 'memory'>> & {
    /** The batch waits for no other batch, and no other batch waits for it. */
    readonly isApart?: boolean;
  };

/**
 * Runs calls on an overlay.
 * @throws ToolError `sandbox_violation` if this machine cannot make one
 */
export async function previewCalls(parts: PreviewParts): Promise<Preview> {
  const { settings, options } = parts;
  const world = await settings.openPreview();
  try {
    const memory = await copyOf(parts.memory);
    const trial = new PreviewTrial(
      () => world.fileToolEnded(),
      (tool) => confinementOf(tool, settings) !== undefined,
    );
    const { conversation: _, approver: __, ...others } = options;
    const tried = await parts.run(
      { ...others, dryRun: false, defer: false, parallel: false, concurrency: 1, approver: null },
      { settings: settingsIn(world, settings), memory, preview: trial, isApart: true },
    );
    const previewed = await world.look();
    const changed = changedParts(previewed);
    const requests = withChanges(await requestsOf(trial, settings), changed);
    const results = tried.map((result) => ({ ...result, metadata: { ...result.metadata, preview: true } }));
    const ending = new PreviewEnding(parts, { world, trial, memory, changed });
    return {
      results,
      changes: previewed.changes,
      parts: changed,
      requests,
      commit: () => ending.commit(),
      discard: () => ending.discard(),
      [Symbol.asyncDispose]: () => ending.discard(),
    };
  } catch (error) {
    await world.discard();
    throw error;
  }
}

/** Nothing in a preview asks the person or is recorded, because none of it has happened. */
function settingsIn(world: PreviewWorld, settings: ExecutorSettings): ExecutorSettings {
  const { sandbox, search, runCommand, runProgram } = world;
  const nothing = { journal: null, cache: null, approver: null, asker: undefined, agents: undefined };
  return {
    ...settings,
    ...nothing,
    sandbox,
    search,
    runCommand,
    runProgram,
    exposePort: undefined,
    shells: shellsOf(settings),
  };
}

/** Running shells can be read; a new shell would outlive the preview. */
function shellsOf({ shells }: ExecutorSettings): BackgroundShells {
  const start = async (): Promise<never> => {
    throw new NotInPreview('background shells are not started in a preview');
  };
  return { ...shells, start };
}

async function requestsOf(
  trial: PreviewTrial,
  settings: ExecutorSettings,
): Promise<readonly ApprovalRequest[]> {
  const asked = trial.asked(trial.evaluated).flatMap((ready, index) => {
    const isAsked = ready.kind === 'ready' && ready.needsApproval;
    return isAsked ? [{ ready, unexpected: trial.unexpected.get(index) }] : [];
  });
  return Promise.all(
    asked.map(async ({ ready, unexpected }) => {
      const request = await toQuestion({ ready, snapshot: await takeSnapshot(ready, settings) }, settings);
      return unexpected === undefined
        ? request
        : { ...request, unexpected: unexpected.map(({ path }) => path) };
    }),
  );
}

/**
 * The combined changes of the calls: they are shown with the first call that needs approval, and are committed all or
 * none.
 */
function withChanges(
  requests: readonly ApprovalRequest[],
  changed: readonly PicturePart[],
): readonly ApprovalRequest[] {
  return requests.map((request, index) =>
    index > 0 ? request : { ...request, parts: [...(request.parts ?? []), ...changed] },
  );
}

/** A copy of a conversation's knowledge of files, and of the origins that it has seen. Later changes do not affect it. */
async function copyOf(memory: ConversationMemory): Promise<ConversationMemory> {
  const known = filesRead(memory);
  await known.refresh();
  const copy: ConversationMemory = new Map([...memory, [FILES_READ, new FilesRead(known)]]);
  await copyOrigins(memory, copy);
  return copy;
}

interface Tried {
  readonly world: PreviewWorld;
  readonly trial: PreviewTrial;
  readonly memory: ConversationMemory;
  readonly changed: readonly PicturePart[];
}

class PreviewEnding {
  readonly #parts: PreviewParts;
  readonly #tried: Tried;
  #committing: Promise<readonly ToolResult[]> | undefined;
  #isDiscarded = false;

  constructor(parts: PreviewParts, tried: Tried) {
    this.#parts = parts;
    this.#tried = tried;
  }

  commit(): Promise<readonly ToolResult[]> {
    if (this.#isDiscarded) {
      return Promise.reject(
        new ToolError('bad_args', 'Cannot commit a preview that was discarded. Preview again.'),
      );
    }
    this.#committing ??= this.#commit();
    return this.#committing;
  }

  async discard(): Promise<void> {
    if (this.#committing !== undefined) {
      await this.#committing.catch(() => {});
      return;
    }
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    await this.#tried.world.discard();
  }

  async #commit(): Promise<readonly ToolResult[]> {
    const { options, calls, run, memory } = this.#parts;
    const { world, trial } = this.#tried;
    const replay = new PreviewReplay(trial, world);
    const together = { dryRun: false, defer: false, parallel: false, concurrency: Math.max(1, calls.length) };
    try {
      const asking = { ...together, ...this.#approver() };
      const results = await run({ ...options, ...asking, failFast: false }, { preview: replay });
      if (replay.isMade) this.#learn(memory);
      return results;
    } finally {
      if (!replay.isMade) await world.discard();
    }
  }

  /** The person who is asked before the commit sees the results. */
  #approver(): Pick<RunOptions, 'approver'> {
    const { options, settings } = this.#parts;
    const { approver = settings.approver } = options;
    if (approver === undefined || approver === null) return {};
    const { changed, trial } = this.#tried;
    const unexpected = trial.unexpectedById();
    const told = (request: ApprovalRequest): ApprovalRequest => {
      const paths = unexpected.get(request.callId);
      return paths === undefined ? request : { ...request, unexpected: paths };
    };
    return { approver: (requests, at) => approver(withChanges(requests.map(told), changed), at) };
  }

  /** The conversation learns which files the calls have read and written. */
  #learn(memory: ConversationMemory): void {
    const known = filesRead(memory);
    for (const [path, record] of filesRead(this.#tried.memory)) {
      if (known.get(path)?.sha256 !== record.sha256) known.set(path, record);
    }
  }
}
