import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { findForeignWriter, isExecutable } from '../platform/fs/program-file.js';
import { type Description, describeProgram } from './describe-program.js';
import { approvalOf, changesSince, type DescribedTool } from './described-tool.js';
import type { Discovery } from './discover.js';
import { programPrint } from './find-programs.js';
import type { CallRunner } from './run-tool.js';

/**
 * Checks that a tool's file is still the program that described itself, because the plan and approval rely on
 * that description. A replacement with the same description may run.
 */
export class ProgramVerifier {
  readonly #discovery: Pick<Discovery, 'environment' | 'signal' | 'accept'>;
  readonly #current: (path: string) => DescribedTool | undefined;
  /** Replaced files by path and state; each is asked once. */
  readonly #asked = new Map<string, Promise<Description>>();
  /** When a tool's file was last found unchanged, on the monotonic clock. */
  readonly #seenAt = new WeakMap<DescribedTool, number>();

  /** @param current the current description of the program at a path. */
  constructor(
    discovery: Pick<Discovery, 'environment' | 'signal' | 'accept'>,
    current: (path: string) => DescribedTool | undefined,
  ) {
    this.#discovery = discovery;
    this.#current = current;
  }

  /**
   * Identifies the file's state.
   * @param maxAgeMs the maximum age of the last check.
   * @throws ToolError `spawn_failed`, `schema_fetch_failed`; nothing was run.
   */
  verify(tool: DescribedTool, maxAgeMs = 0): Promise<string> | string {
    const now = systemClock.monotonic();
    const seenAt = this.#seenAt.get(tool);
    if (tool.print !== undefined && seenAt !== undefined && now - seenAt < maxAgeMs) return tool.print;
    const print = programPrint(tool.path);
    if (print !== undefined && print === tool.print) {
      this.#seenAt.set(tool, now);
      return print;
    }
    return this.#verifyReplaced(tool, print);
  }

  async #verifyReplaced(tool: DescribedTool, print: string | undefined): Promise<string> {
    const { name, path } = tool;
    if (print === undefined)
      throw notRun('spawn_failed', `Cannot start ${name}: "${path}" does not exist.`, path);
    if (!isExecutable(path)) {
      throw notRun('spawn_failed', `Cannot start ${name}: "${path}" may not be executed.`, path);
    }
    const weakness = findForeignWriter(path);
    if (weakness !== undefined) throw notRun('spawn_failed', `Cannot start ${name}: ${weakness}.`, path);
    const description = await this.#describe(tool, print);
    if (saysTheSame(tool.description, description)) return print;
    throw notRun(
      'schema_fetch_failed',
      `Cannot run ${name}: its program was replaced, and describes itself differently now. Look at the tools again (refresh), and make the call again.`,
      path,
    );
  }

  async #describe({ name, path }: DescribedTool, print: string): Promise<Description> {
    const current = this.#current(path);
    if (current?.print === print) return current.description;
    const key = `${path}\0${print}`;
    const { environment, signal, accept } = this.#discovery;
    const ask = async (): Promise<Description> =>
      accept(name, await describeProgram({ name, path, env: environment(), signal }));
    const asking = this.#asked.get(key) ?? ask();
    this.#asked.set(key, asking);
    return asking;
  }
}

/** Runs only verified programs. */
export function verifyFirst(verifier: ProgramVerifier, next: CallRunner): CallRunner {
  return async (call) => {
    const verified = verifier.verify(call.tool);
    call.print = typeof verified === 'string' ? verified : await verified;
    return next(call);
  };
}

function saysTheSame(one: Description, other: Description): boolean {
  const approved = approvalOf(one);
  const now = approvalOf(other);
  if (approved === undefined || now === undefined) return one.status === other.status;
  return changesSince(approved, now).length === 0;
}

function notRun(code: 'spawn_failed' | 'schema_fetch_failed', message: string, path: string): ToolError {
  return new ToolError(code, message, { details: { path, executed: 'no' } });
}
