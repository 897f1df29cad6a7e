import { systemClock } from '../platform/clock/clock.js';
import { targetOf } from '../platform/fs/fs-entry.js';
import { hashFile } from '../platform/fs/program-file.js';
import { type Description, describeProgram, readDescription } from './describe-program.js';
import { approvalOf, changesSince, type DescribedTool } from './described-tool.js';
import { type FoundProgram, findPrograms, programPrint } from './find-programs.js';
import type { RememberedTools } from './remembered-tools.js';

export interface Discovery {
  readonly directories: readonly string[];
  readonly isTrusted: (directory: string) => boolean;
  /** How many programs are asked at a time. */
  readonly concurrency: number;
  readonly environment: () => Readonly<Record<string, string>>;
  readonly remembered: RememberedTools;
  /** Applies the options that require more than a valid description. */
  readonly accept: (name: string, description: Description) => Description;
  readonly signal: AbortSignal;
}

/**
 * All programs in the directories with their descriptions, by name. An unchanged program is not run again.
 * @param earlier the previous result.
 * @throws ToolError `config_invalid` for a path that is not a directory.
 */
export async function discover(
  discovery: Discovery,
  earlier: readonly DescribedTool[] = [],
): Promise<readonly DescribedTool[]> {
  const found = findPrograms(discovery.directories, discovery.isTrusted);
  const env = lazily(discovery.environment);
  const known = new Map(earlier.map((tool) => [tool.path, tool]));
  const described = await inParallel(found, discovery.concurrency, (program) =>
    describe(program, { ...discovery, environment: env }, known.get(program.path)),
  );
  return described.map((tool) => {
    const description = discovery.accept(tool.name, tool.description);
    return withChanges({ ...tool, description }, discovery.remembered);
  });
}

type Undated = Omit<DescribedTool, 'changed'>;

async function describe(
  program: FoundProgram,
  discovery: Discovery,
  earlier: DescribedTool | undefined,
): Promise<Undated> {
  const { name, path, trusted, refused } = program;
  if (refused !== undefined) {
    return { name, path, trusted, print: undefined, description: { status: 'error', reason: refused } };
  }
  const print = programPrint(path);
  // A failure may have had a cause outside the file, so such a program is asked again.
  if (earlier?.print === print && print !== undefined && earlier?.description.status === 'ready') {
    return { name, path, trusted, print, description: earlier.description };
  }
  const remembered = print === undefined ? undefined : recall(program, print, discovery.remembered);
  if (remembered !== undefined) return { name, path, trusted, print, description: remembered };
  const env = discovery.environment();
  const description = await describeProgram({ name, path, env, signal: discovery.signal });
  if (description.status === 'ready' && print !== undefined && programPrint(path) === print) {
    const hash = tryHash(path);
    if (hash !== undefined) {
      discovery.remembered.remember(path, { print, hash, at: systemClock.now(), text: description.text });
    }
  }
  return { name, path, trusted, print, description };
}

/** A file that changed this recently may change again with the same time stamp. */
const RACY_MS = 2_000;

/** The earlier description of the same file: the same by size, times and inode, otherwise by content. */
function recall(
  { name, path }: FoundProgram,
  print: string,
  remembered: RememberedTools,
): Description | undefined {
  const known = remembered.description(path);
  if (known === undefined) return undefined;
  const isSure =
    known.print === print && (targetOf(path)?.ctimeMs ?? Number.POSITIVE_INFINITY) < known.at - RACY_MS;
  if (!isSure) {
    if (tryHash(path) !== known.hash) return undefined;
    remembered.remember(path, { ...known, print, at: systemClock.now() });
  }
  const description = readDescription(known.text, name, { isKnown: true });
  return description.status === 'ready' ? description : undefined;
}

function tryHash(path: string): string | undefined {
  try {
    return hashFile(path);
  } catch {
    // Some programs can be run but not read.
    return undefined;
  }
}

/** The first description of a program counts as approved; later changes are reported against it. */
function withChanges(tool: Undated, remembered: RememberedTools): DescribedTool {
  const now = approvalOf(tool.description);
  if (now === undefined) return { ...tool, changed: [] };
  const approved = remembered.approval(tool.path);
  if (approved === undefined) remembered.approve(tool.path, now);
  return { ...tool, changed: approved === undefined ? [] : changesSince(approved, now) };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

async function inParallel<T, R>(
  items: readonly T[],
  concurrency: number,
  run: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as T);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return results;
}
