import { join } from 'node:path';
import { covers } from '../base/covers.js';
import { nearestName } from '../base/nearest-name.js';
import { commandEnvironment } from '../commands/command-environment.js';
import { useCommandHelpers } from '../commands/supervise-command.js';
import type { ExternalToolInfo, ExternalTools, ExternalToolsReport } from '../contract/external.js';
import type { JsonObject, JsonSchema } from '../contract/json.js';
import type { Tool, ToolSpec } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { type DirectoryWatch, watchDirectories } from '../platform/fs/watch-directories.js';
import { readEnvironment, stateDirectory } from '../platform/runtime/environment.js';
import { CircuitBreakers } from './circuit-breaker.js';
import type { Description } from './describe-program.js';
import { approvalOf, type DescribedTool } from './described-tool.js';
import { type Discovery, discover } from './discover.js';
import { type DiscoverOptions, normalizeDiscoverOptions } from './external-options.js';
import { resolveDirectories } from './find-programs.js';
import { limitCalls } from './limit-calls.js';
import { measureCalls } from './measure-calls.js';
import { MetricsBook } from './metrics.js';
import { RememberedTools } from './remembered-tools.js';
import { runTool } from './run-tool.js';
import { type SpecParts, toolSpecOf } from './tool-spec.js';
import { beginSpan, type Warn } from './trace-context.js';
import { ProgramVerifier, verifyFirst } from './verify-program.js';
import { withinRange } from './version-ranges.js';
import { WarmPool } from './warm-pool.js';

/** Turns a spec into a tool. */
export type DefineSpec = (spec: ToolSpec<JsonObject>) => Tool;

/**
 * Finds programs, asks for their descriptions, and offers them as tools.
 * @throws ToolError `config_invalid` for an invalid option or directory.
 */
export async function openExternalTools(
  directories: string | readonly string[],
  given: DiscoverOptions,
  define: DefineSpec,
): Promise<ExternalTools> {
  const service = new ExternalToolService(directories, given, define);
  await service.refresh();
  return service;
}

/**
 * The tools are one list that is replaced as a whole, so no reader sees it half changed. A call keeps the
 * version that it was planned with.
 */
class ExternalToolService implements ExternalTools {
  readonly #define: DefineSpec;
  readonly #options: ReturnType<typeof normalizeDiscoverOptions>;
  readonly #discovery: Discovery;
  readonly #remembered: RememberedTools;
  readonly #metrics = new MetricsBook();
  readonly #breakers: CircuitBreakers;
  readonly #pool: WarmPool | undefined;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #letHelpersGo = useCommandHelpers();
  readonly #parts: SpecParts;
  #watch: DirectoryWatch | undefined;
  #described: readonly DescribedTool[] = [];
  #tools: readonly Tool[] = [];
  #byTool: ReadonlyMap<DescribedTool, Tool> = new Map();
  #revision = 0;
  readonly #listeners = new Set<() => void>();
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(directories: string | readonly string[], given: DiscoverOptions, define: DefineSpec) {
    const options = normalizeDiscoverOptions(given);
    const paths = resolveDirectories(directories, 'The directories of discoverTools');
    this.#define = define;
    this.#options = options;
    this.#remembered = new RememberedTools(stateOf(options.stateDirectory));
    this.#discovery = {
      directories: paths,
      isTrusted: trustIn(options.trusted),
      concurrency: options.concurrency,
      environment: () => commandEnvironment(readEnvironment(), options.environment),
      remembered: this.#remembered,
      accept: (name, description) => withinRange(name, description, options.versions),
      signal: this.#closing.signal,
    };
    const verifier = new ProgramVerifier(this.#discovery, (path) =>
      this.#described.find((tool) => tool.path === path),
    );
    const warn: Warn = (data, message) => options.logger?.warn(data, message);
    const verified = verifyFirst(verifier, runTool);
    this.#pool = options.warm === undefined ? undefined : new WarmPool(options.warm, verifier, warn);
    this.#breakers = new CircuitBreakers(options.breaker);
    // From the inside out: waiting and refused calls are not attempts.
    const run = limitCalls(
      options.maxConcurrent,
      this.#breakers.around(measureCalls(this.#metrics, this.#pool?.around(verified) ?? verified)),
    );
    this.#parts = {
      run,
      trace: (tool, callId) => beginSpan(options.trace, { tool, callId }, warn),
      maxOutputBytes: options.maxOutputBytes,
      timeouts: options.timeouts ?? {},
      closing: this.#closing.signal,
      watch: (running) => this.#follow(running),
    };
    if (options.watch) this.#watch = watchDirectories(paths, () => void this.#refreshQuietly());
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  get revision(): number {
    return this.#revision;
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#tools[Symbol.iterator]();
  }

  whyMissing(name: string): ToolError | undefined {
    const found = this.#described.find((tool) => tool.name === name);
    if (found?.description.status !== 'error') return undefined;
    const { reason } = found.description;
    const message = reason.startsWith('Cannot ') ? `${reason}.` : `Cannot run ${name}: ${reason}.`;
    return new ToolError('spawn_failed', message, {
      details: { path: found.path, executed: 'no' },
    });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  list(): readonly ExternalToolInfo[] {
    return this.#described.map((tool) => ({
      ...infoOf(tool),
      metrics: this.#metrics.read(tool.name),
      circuit: this.#breakers.read(tool.name),
    }));
  }

  schema(name: string): { readonly inputSchema: JsonSchema; readonly outputSchema?: JsonSchema } {
    const { description } = this.#find(name);
    if (description.status === 'ready') {
      const { inputSchema, outputSchema } = description.document;
      return structuredClone({ inputSchema, outputSchema });
    }
    throw new ToolError('schema_fetch_failed', `The tool "${name}" has no schema: ${description.reason}.`, {
      details: { name, status: description.status },
    });
  }

  refresh(): Promise<ExternalToolsReport> {
    const refreshed = this.#refreshing.then(() => this.#refresh());
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  approve(name?: string): void {
    const chosen = name === undefined ? this.#described : [this.#find(name)];
    for (const { path, description } of chosen) {
      const approval = approvalOf(description);
      if (approval !== undefined) this.#remembered.approve(path, approval);
    }
    this.#save();
    this.#replace(this.#described.map((tool) => (chosen.includes(tool) ? { ...tool, changed: [] } : tool)));
  }

  async close(): Promise<void> {
    this.#watch?.close();
    this.#closing.abort(new ToolError('cancelled', 'The external tools were closed.'));
    await this.#refreshing;
    // The serving processes first, because calls wait for their answers.
    await this.#pool?.close();
    await Promise.allSettled(this.#running);
    await this.#letHelpersGo();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #refresh(): Promise<ExternalToolsReport> {
    if (this.#closing.signal.aborted) throw new ToolError('cancelled', 'The external tools are closed.');
    const isFirst = this.#revision === 0;
    const before = this.#described;
    const described = await discover(this.#discovery, before);
    this.#save();
    const report = reportOf(before, described);
    this.#replace(described);
    if (!isFirst) this.#tellChange(report);
    return report;
  }

  async #refreshQuietly(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.#warn('cannot look for external tools', error);
    }
  }

  #replace(described: readonly DescribedTool[]): void {
    const byTool = new Map<DescribedTool, Tool>();
    for (const tool of described) {
      if (tool.description.status === 'error') continue;
      const same = this.#described.find((other) => isSameVersion(other, tool));
      const known = same === undefined ? undefined : this.#byTool.get(same);
      byTool.set(tool, known ?? this.#define(toolSpecOf(tool, this.#parts)));
    }
    this.#described = described;
    this.#byTool = byTool;
    this.#pool?.retain(described);
    this.#tools = Object.freeze([...byTool.values()]);
    this.#revision++;
    for (const listener of this.#listeners) listener();
  }

  #find(name: string): DescribedTool {
    const found = this.#described.find((tool) => tool.name === name);
    if (found !== undefined) return found;
    const names = this.#described.map((tool) => tool.name);
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
    throw new ToolError('unknown_tool', `Unknown external tool "${name}".${hint}`, { details: { name } });
  }

  #follow(running: Promise<unknown>): void {
    this.#running.add(running);
    const forget = (): boolean => this.#running.delete(running);
    running.then(forget, forget);
  }

  #save(): void {
    const failure = this.#remembered.save();
    if (failure !== undefined) this.#warn('cannot remember external tools', failure);
  }

  #tellChange(report: ExternalToolsReport): void {
    if (report.added.length + report.changed.length + report.removed.length === 0) return;
    try {
      this.#options.onChange?.(report);
    } catch (error) {
      this.#warn('onChange threw', error);
    }
  }

  #warn(message: string, error: unknown): void {
    this.#options.logger?.warn({ error: error instanceof Error ? error.message : String(error) }, message);
  }
}

function stateOf(given: string | false | undefined): string | undefined {
  if (given === false) return undefined;
  return given ?? join(stateDirectory(), 'toolexec', 'external');
}

function trustIn(trusted: true | readonly string[] | undefined): Discovery['isTrusted'] {
  if (trusted === undefined) return () => false;
  if (trusted === true) return () => true;
  const places = resolveDirectories(trusted, 'discoverTools.trusted');
  return (directory) => places.some((place) => covers(place, directory));
}

/** Whether a tool built for one also fits the other. */
function isSameVersion(one: DescribedTool, other: DescribedTool): boolean {
  return (
    one.path === other.path &&
    one.name === other.name &&
    one.trusted === other.trusted &&
    one.print === other.print &&
    saysTheSame(one.description, other.description) &&
    one.changed.join() === other.changed.join()
  );
}

/** A program without a description is asked at every refresh, and usually fails the same way. */
function saysTheSame(one: Description, other: Description): boolean {
  if (one === other) return true;
  if (one.status === 'ready' || other.status === 'ready') return false;
  return one.status === other.status && one.reason === other.reason;
}

function infoOf({
  name,
  path,
  trusted,
  description,
  changed,
}: DescribedTool): Omit<ExternalToolInfo, 'metrics' | 'circuit'> {
  const { status } = description;
  const changes = changed.length === 0 ? {} : { changed: [...changed] };
  if (description.status !== 'ready') {
    const errorMessage = description.reason;
    return { name, version: '', description: '', tags: [], status, path, errorMessage, trusted, ...changes };
  }
  const { version, description: text, tags, inputSchema, outputSchema } = description.document;
  const schemas = structuredClone({ inputSchema, outputSchema });
  return { name, version, description: text, tags: [...tags], status, path, ...schemas, trusted, ...changes };
}

function reportOf(before: readonly DescribedTool[], after: readonly DescribedTool[]): ExternalToolsReport {
  const old = new Map(before.map((tool) => [tool.path, tool]));
  const current = new Set(after.map(({ path }) => path));
  const isChanged = (tool: DescribedTool): boolean => {
    const earlier = old.get(tool.path);
    return earlier !== undefined && !isSameVersion(earlier, tool);
  };
  return {
    added: after.filter(({ path }) => !old.has(path)).map(({ name }) => name),
    changed: after.filter(isChanged).map(({ name }) => name),
    removed: before.filter(({ path }) => !current.has(path)).map(({ name }) => name),
  };
}
