import { dirname, resolve } from 'node:path';
import { commandEnvironment } from '../commands/command-environment.js';
import { runProgram } from '../commands/run-program.js';
import type { JsonObject } from '../contract/json.js';
import type { ProgramOutcome } from '../contract/programs.js';
import { isToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { readEnvironment } from '../platform/runtime/environment.js';
import type { Checker } from '../schema/checker.js';
import { compileInput, compileOutput } from '../schema/compile-schema.js';
import { type Description, describeProgram, MODE_VARIABLES } from './describe-program.js';
import { findProgramAt } from './find-programs.js';
import { plainText } from './plain-text.js';
import { StreamReader } from './read-stream.js';
import { readAnswer, readResult } from './run-tool.js';
import { sampleArguments } from './sample-arguments.js';
import type { SchemaDocument } from './schema-document.js';
import { type ServedAnswer, ServingFault, ServingProcess } from './serving-process.js';

/** One test of a tool. */
export interface CheckStep {
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly message: string;
}

export interface ToolCheck {
  readonly path: string;
  /** `broken`: a step failed. `usable`: there are warnings. */
  readonly verdict: 'good' | 'usable' | 'broken';
  readonly steps: readonly CheckStep[];
}

export interface CheckOptions {
  /**
   * For real calls. Default: generated from the schema, for a tool that declares no changes; otherwise no
   * call is made.
   */
  readonly args?: JsonObject;
  /** Time limit of each call; default 10000. */
  readonly timeoutMs?: number;
  /** When one call is interrupted; default 50. */
  readonly breakOffMs?: number;
  /** Called after each step. */
  readonly onStep?: (step: CheckStep) => void;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const IDLE = new AbortController().signal;

/** Runs a program the way calls do, including failures, and reports the results. */
export async function checkTool(given: string, options: CheckOptions = {}): Promise<ToolCheck> {
  const path = resolve(given);
  const steps: CheckStep[] = [];
  for await (const step of stepsFor(path, options)) {
    steps.push(step);
    options.onStep?.(step);
  }
  const has = (verdict: CheckStep['verdict']): boolean => steps.some((step) => step.verdict === verdict);
  return { path, verdict: has('failed') ? 'broken' : has('warning') ? 'usable' : 'good', steps };
}

async function* stepsFor(path: string, options: CheckOptions): AsyncIterable<CheckStep> {
  const program = findProgramAt(path);
  if (program.refused !== undefined) {
    yield failed('file', program.refused);
    return;
  }
  yield ok('file', `"${program.name}" may be executed, and changed by you alone`);
  const env = commandEnvironment(readEnvironment());
  const first = await timed(() => describeProgram({ name: program.name, path, env, signal: IDLE }));
  const { value: description } = first;
  if (description.status !== 'ready') {
    yield failed('schema', description.reason);
    return;
  }
  yield first.ms > SLOW_MS
    ? warning('schema', `--schema takes ${first.ms} ms; more than 5000 ms is too long`)
    : ok('schema', `--schema gives both schemas in ${first.ms} ms`);
  yield sameAgain(description, await describeProgram({ name: program.name, path, env, signal: IDLE }));
  yield* describedWell(description.document);
  const run = new CheckedRuns(path, { ...env, ...MODE_VARIABLES }, options);
  yield* callSteps(run, program.name, description.document, options.args);
}

const SLOW_MS = 1_000;

function sameAgain(one: Description & { readonly status: 'ready' }, other: Description): CheckStep {
  const isSame = other.status === 'ready' && other.text === one.text;
  return isSame
    ? ok('schema again', 'it gives the same answer the second time')
    : warning('schema again', 'its second answer differs: people would be asked about a change');
}

function* describedWell(document: SchemaDocument): Iterable<CheckStep> {
  if (document.description === '') {
    yield warning('description', 'there is none: a model does not know when to call it');
  } else yield ok('description', `${document.description.length} characters`);
  if (document.version === '') yield warning('version', 'there is none');
  else yield ok('version', document.version);
  if (document.effects === undefined) {
    yield warning(
      'effects',
      'it declares none: every call needs approval. Add "read_only": true, or list "effects"',
    );
  } else yield ok('effects', document.effects.map(({ kind }) => kind).join(', ') || 'none');
}

async function* callSteps(
  run: CheckedRuns,
  name: string,
  document: SchemaDocument,
  given: JsonObject | undefined,
): AsyncIterable<CheckStep> {
  const input = compileInput(document.inputSchema, name);
  const args = given ?? (isHarmless(document) ? sampleArguments(document.inputSchema, input) : undefined);
  if (args === undefined) {
    const message = 'no call was made: give arguments that do no harm with --args';
    for (const step of ['call', 'side by side', 'broken input', 'ended early'])
      yield { name: step, verdict: 'skipped', message };
    return;
  }
  const checked = await input.check(args);
  if (!checked.ok) {
    yield failed('call', `the arguments do not fit input_schema: ${checked.message}`);
    return;
  }
  const output = compileOutput(document.outputSchema, name);
  const reads = document.streaming ? readLines : readResult;
  const answerOf = (stdout: Uint8Array) => reads(stdout, output);
  yield await run.call('call', args, answerOf);
  yield await run.sideBySide(args, answerOf);
  if (document.serve) yield await run.serves(args, output);
  yield await run.brokenInput();
  yield await run.endedEarly(args);
}

/** It declares that it changes nothing. */
function isHarmless({ effects }: SchemaDocument): boolean {
  return effects?.every((effect) => effect.kind === 'read' || isReadingCall(effect)) === true;
}

function isReadingCall({ kind, fields }: NonNullable<SchemaDocument['effects']>[number]): boolean {
  return kind === 'call' && fields.some((field) => field.name === 'access' && field.parts.join() === 'read');
}

type AnswerOf = (stdout: Uint8Array) => ReturnType<typeof readResult>;

const NO_RESULT = { fault: 'it gave no result' } as const;

/** Parses the lines of a streaming program. */
function readLines(stdout: Uint8Array, output: Checker): ReturnType<typeof readResult> {
  const reader = new StreamReader({ emit: () => undefined }, MAX_OUTPUT_BYTES);
  void reader.push(stdout);
  const answer = reader.end();
  return 'error' in answer ? { fault: answer.error } : readAnswer(answer, output);
}

class CheckedRuns {
  readonly #path: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;
  readonly #breakOffMs: number;

  constructor(
    path: string,
    env: Readonly<Record<string, string>>,
    { timeoutMs = 10_000, breakOffMs = 50 }: CheckOptions,
  ) {
    this.#path = path;
    this.#env = env;
    this.#timeoutMs = timeoutMs;
    this.#breakOffMs = breakOffMs;
  }

  async call(step: string, args: JsonObject, answerOf: AnswerOf): Promise<CheckStep> {
    const ended = await this.#run(JSON.stringify(args), this.#timeoutMs);
    if (typeof ended === 'string') return failed(step, ended);
    const fault = faultOf(ended, this.#timeoutMs);
    if (fault !== undefined) return failed(step, fault);
    const result = answerOf(ended.stdout);
    if ('fault' in result) return failed(step, result.fault);
    return ok(step, `a result of ${ended.stdout.length} bytes in ${Math.round(ended.durationMs)} ms`);
  }

  async sideBySide(args: JsonObject, answerOf: AnswerOf): Promise<CheckStep> {
    const steps = await Promise.all([1, 2, 3, 4].map(() => this.call('side by side', args, answerOf)));
    return (
      steps.find(({ verdict }) => verdict === 'failed') ??
      ok('side by side', 'four calls at once all gave a result')
    );
  }

  /** Checks that the tool answers a ping and answers the same call correctly twice. */
  async serves(args: JsonObject, output: Checker): Promise<CheckStep> {
    const late = new AbortController();
    const forget = systemClock.after(this.#timeoutMs, () => late.abort());
    const server = new ServingProcess({
      path: this.#path,
      cwd: dirname(this.#path),
      env: this.#env,
      maxLineBytes: MAX_OUTPUT_BYTES,
    });
    const ask = (request: object, isPong: boolean): Promise<ServedAnswer> =>
      server.ask(
        request,
        () => {},
        late.signal,
        ({ type }) => (type === 'pong') === isPong,
      );
    try {
      await ask({ type: 'ping' }, true);
      for (let time = 0; time < 2; time++) {
        const answer = await ask({ type: 'call', arguments: args }, false);
        if (answer.type === 'error') return failed('serve', answer.message);
        const result = answer.type === 'result' ? readAnswer(answer, output) : NO_RESULT;
        if ('fault' in result) return failed('serve', result.fault);
      }
      return ok('serve', 'one process answers a ping and two calls');
    } catch (error) {
      if (late.signal.aborted) return failed('serve', `it did not answer within ${this.#timeoutMs} ms`);
      if (error instanceof ServingFault || isToolError(error)) return failed('serve', error.message);
      throw error;
    } finally {
      forget();
      await server.kill();
    }
  }

  /** Our own calls never send this, but a tool that accepts it does not validate its arguments. */
  async brokenInput(): Promise<CheckStep> {
    const ended = await this.#run('{"broken":', this.#timeoutMs);
    if (typeof ended === 'string') return failed('broken input', ended);
    if (ended.aborted) {
      return failed('broken input', `it did not end within ${this.#timeoutMs} ms`);
    }
    return ended.exitCode === 0
      ? warning('broken input', 'it succeeds with arguments that are not JSON')
      : ok('broken input', 'it fails');
  }

  async endedEarly(args: JsonObject): Promise<CheckStep> {
    const ended = await this.#run(JSON.stringify(args), this.#breakOffMs);
    if (typeof ended === 'string') return failed('ended early', ended);
    if (!ended.aborted) return ok('ended early', `it had ended within ${this.#breakOffMs} ms`);
    if (ended.survivors.length > 0) {
      return failed('ended early', `processes ${ended.survivors.join(', ')} could not be ended`);
    }
    return ended.signal === 'SIGKILL'
      ? warning('ended early', 'it ignores SIGTERM, and was killed')
      : ok('ended early', `it ends within ${Math.round(ended.durationMs - this.#breakOffMs)} ms of SIGTERM`);
  }

  /** A text: the reason why it could not run. */
  async #run(input: string, limitMs: number): Promise<ProgramOutcome | string> {
    const late = new AbortController();
    const forget = systemClock.after(limitMs, () => late.abort());
    try {
      return await runProgram({
        file: this.#path,
        args: [],
        cwd: dirname(this.#path),
        env: this.#env,
        input,
        signal: late.signal,
        maxOutputBytes: MAX_OUTPUT_BYTES,
        keepErrorBytes: 8_192,
      });
    } catch (error) {
      if (isToolError(error)) return error.message;
      throw error;
    } finally {
      forget();
    }
  }
}

function faultOf(
  { aborted, overflow, exitCode, signal, stderr }: ProgramOutcome,
  timeoutMs: number,
): string | undefined {
  if (aborted) return `it did not end within ${timeoutMs} ms`;
  if (overflow) return `it wrote more than ${MAX_OUTPUT_BYTES} bytes`;
  if (exitCode === 0) return undefined;
  const said = plainText((stderr.head + stderr.tail).trim().split('\n').at(-1) ?? '').slice(0, 300);
  const end = exitCode === null ? `it was ended by ${signal ?? 'a signal'}` : `exit code ${exitCode}`;
  return said === '' ? end : `${end}: ${said}`;
}

async function timed<T>(run: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = systemClock.monotonic();
  const value = await run();
  return { value, ms: Math.round(systemClock.monotonic() - start) };
}

const ok = (name: string, message: string): CheckStep => ({ name, verdict: 'ok', message });
const warning = (name: string, message: string): CheckStep => ({ name, verdict: 'warning', message });
const failed = (name: string, message: string): CheckStep => ({ name, verdict: 'failed', message });
