import type { ContentBlock, ToolFailure, ToolResult, ToolSuccess } from '../../contract/call.js';
import type { Effect } from '../../contract/effect.js';
import type { JsonObject } from '../../contract/json.js';
import type { Origin } from '../../contract/origin.js';
import { OUTPUT_LIMITS } from '../../contract/output-limits.js';
import type { OutputStore } from '../../contract/outputs.js';
import {
  type CleanOutputOptions,
  cleanFileOutput,
  cleanOutput,
  isJsonObjectText,
  truncate,
} from '../../output/clean-output.js';
import { redactValues } from '../../output/create-redactor.js';
import { exactValuesOf } from '../../output/redact.js';
import { contentWords } from '../../providers/content-words.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { ResultSettings } from '../call/settings.js';
import { type CleanContent, cleanContent } from './clean-content.js';
import { cleanJson, cleanValue } from './clean-json.js';
import type { Outcome, OutcomeError } from './outcome.js';
import { rememberCause } from './results.js';

/** The parts of a call that its result needs. */
type NamedCall = Pick<ReadyCall, 'declared' | 'origin'> & {
  readonly call: Pick<ReadyCall['call'], 'id' | 'name'>;
};

const NOTHING: JsonObject = Object.freeze({});

/**
 * Turns an outcome into a result: neutralises controls, redacts secrets, then cuts to a number of bytes that
 * includes the marker (D077, D079, D080). A failure whose message is a JSON object passes unchanged (D061,
 * D062).
 * @throws any error that reading the metadata, structured value or details throws; RangeError if one of them
 * is cyclic.
 */
export function finalize(
  outcome: Outcome,
  ready: NamedCall,
  { settings }: Pick<BatchScope, 'settings'>,
  elapsedMs: number,
  truncatedBefore = false,
): ToolResult {
  const cleaning = cleaningOf(settings);
  const shown = cleanText(outcome, ready, settings);
  const content =
    outcome.content === undefined ? undefined : cleanBlocks(outcome.content, shown, outcome, ready, settings);
  const output = content === undefined ? shown : withContent(shown, content, outcome, settings);
  const own = outcome.metadata === undefined ? NOTHING : cleanJson(outcome.metadata, cleaning.clean);
  const metadata = withOrigin(own, ready.origin);
  const result = {
    callId: ready.call.id,
    toolName: ready.call.name,
    success: true as const,
    output: output.text,
    truncated: output.truncated || outcome.truncated === true || truncatedBefore,
    executionTimeMs: Math.round(elapsedMs),
    metadata: output.redacted ? { ...metadata, redacted: true } : metadata,
  };
  const structured =
    outcome.structured === undefined ? undefined : cleanValue(outcome.structured, cleaning.hide);
  const outputRef = result.truncated
    ? (content?.outputRef ?? outputRefOf(outcome, ready, settings, output.truncated))
    : undefined;
  const isPlain = structured === undefined && content === undefined && outputRef === undefined;
  // Most results are only a text and need no second copy.
  const whole = isPlain
    ? result
    : {
        ...result,
        ...(structured === undefined ? {} : { structured }),
        ...(content === undefined ? {} : { content: content.blocks }),
        ...(outputRef === undefined ? {} : { outputRef }),
      };
  const told: ToolResult =
    outcome.error === undefined
      ? whole
      : fail(whole, outcome.error, cleaning, outcome.truncatable, settings.outputs);
  rememberCause(told, outcome.error?.cause);
  return outcome.truncatable ? told : markUncut(told);
}

/**
 * The executor states the origin: a tool cannot claim that its text came from the person. A call that did not
 * run has no origin.
 */
function withOrigin(metadata: JsonObject, origin: readonly Origin[]): JsonObject {
  if (origin.length === 0) return metadata;
  if (metadata !== NOTHING) return { ...metadata, origin };
  let known = ORIGIN_ALONE.get(origin);
  if (known === undefined) {
    known = Object.freeze({ origin });
    ORIGIN_ALONE.set(origin, known);
  }
  return known;
}

/** Most results have no other metadata, so they share one object per origin. */
const ORIGIN_ALONE = new WeakMap<readonly Origin[], JsonObject>();

/**
 * Returns where the tool stored the whole output. If the tool did not store it, the executor stores the
 * cleaned, uncut output now (F004).
 */
function outputRefOf(
  outcome: Outcome,
  ready: NamedCall,
  settings: ResultSettings,
  cutHere: boolean,
): string | undefined {
  if (outcome.outputRef !== undefined) return outcome.outputRef;
  if (!cutHere) return undefined;
  const whole = { ...outcome, truncatable: false };
  const shown = cleanText(whole, ready, settings);
  if (outcome.content === undefined) return settings.outputs.save(shown.text);
  const { blocks } = cleanBlocks(outcome.content, shown, whole, ready, settings);
  return settings.outputs.save([shown.text, contentWords(blocks)].filter((text) => text !== '').join('\n'));
}

interface CleanText {
  readonly text: string;
  readonly truncated: boolean;
  readonly redacted?: boolean;
}

/** The tool's text beside its blocks comes first and counts against the text limit. */
function cleanBlocks(
  content: readonly ContentBlock[],
  beside: CleanText,
  { truncatable }: Outcome,
  ready: NamedCall,
  settings: ResultSettings,
): CleanContent {
  const { clean } = cleaningOf(settings);
  const { maxOutputBytes, maxContentBytes, secretValues: values, outputs } = settings;
  const isFile = holdsFileContent(ready, settings);
  return cleanContent(content, {
    cleanText: (text, maxBytes) => (isFile ? cleanFileOutput : cleanOutput)(text, { maxBytes, values }),
    cleanName: clean,
    maxTextBytes: truncatable ? maxOutputBytes - Buffer.byteLength(beside.text) : Number.POSITIVE_INFINITY,
    maxContentBytes,
    keep: (data) => outputs.save(data),
  });
}

/**
 * The output of a result with content: the tool's text beside the blocks, or else a description of the blocks
 * in words.
 */
function withContent(
  beside: CleanText,
  { blocks, truncated, redacted }: CleanContent,
  { text, truncatable }: Outcome,
  { maxOutputBytes }: ResultSettings,
): CleanText {
  const words = text === '' ? contentWords(blocks) : beside.text;
  const cut = truncate(words, truncatable ? maxOutputBytes : Number.POSITIVE_INFINITY);
  return {
    text: cut.text,
    truncated: cut.truncated || beside.truncated || truncated,
    redacted: beside.redacted === true || redacted,
  };
}

/** Whether the tool limits its output itself. The executor must not cut such a result. */
export function isUncut(result: ToolResult): boolean {
  return uncut.has(result);
}

/** Marks a result so that it is not cut. */
export function markUncut(result: ToolResult): ToolResult {
  uncut.add(result);
  return result;
}

const uncut = new WeakSet<ToolResult>();

function fail(
  whole: ToolSuccess,
  error: OutcomeError,
  { cut, uncut: unlimited, clean, hide }: Cleaning,
  truncatable: boolean,
  outputs: OutputStore,
): ToolFailure {
  const { code, hint, details, executed } = error;
  const message = cleanMessage(error, whole.toolName, truncatable ? cut : unlimited, hide);
  const outputRef = whole.outputRef ?? (message.truncated ? outputs.save(clean(error.message)) : undefined);
  return {
    ...whole,
    success: false,
    error: {
      code,
      message: message.text,
      ...(hint === undefined ? {} : { hint: cleanOutput(hint, cut).text }),
      details: { ...cleanJson(details ?? NOTHING, clean), executed },
    },
    truncated: whole.truncated || message.truncated,
    ...(outputRef === undefined ? {} : { outputRef }),
  };
}

function cleanMessage(
  { code, message }: OutcomeError,
  toolName: string,
  cut: CleanOutputOptions,
  hide: Cleaning['hide'],
): { readonly text: string; readonly truncated: boolean } {
  if (message.trim() === '') return { text: `${toolName} failed, and did not say why.`, truncated: false };
  if (code === 'execution_failed' && isJsonObjectText(message))
    return { text: hide(message), truncated: false };
  if (code !== 'tool_panicked') return cleanOutput(message, cut);
  return cleanOutput(message, { ...cut, maxBytes: Math.min(cut.maxBytes, OUTPUT_LIMITS.panicBytes) });
}

interface Cleaning {
  readonly cut: CleanOutputOptions;
  readonly uncut: CleanOutputOptions;
  /** Cleans texts beside the output; people and models see these too. */
  readonly clean: (text: string) => string;
  /** Cleans values that a schema has accepted and programs read: only known secret values are redacted. */
  readonly hide: (text: string) => string;
}

/** One value per settings object, shared by all calls of an executor. */
const usual = new WeakMap<ResultSettings, Cleaning>();

function cleaningOf(settings: ResultSettings): Cleaning {
  let cleaning = usual.get(settings);
  if (cleaning === undefined) {
    const { maxOutputBytes, secretValues: values } = settings;
    const uncut = { maxBytes: Number.POSITIVE_INFINITY, values };
    cleaning = {
      cut: { maxBytes: maxOutputBytes, values },
      uncut,
      clean: (text) => cleanOutput(text, uncut).text,
      hide: (text) => redactValues(text, exactValuesOf(values)),
    };
    usual.set(settings, cleaning);
  }
  return cleaning;
}

function cleanText({ text, truncatable }: Outcome, ready: NamedCall, settings: ResultSettings): CleanText {
  if (text === '') return EMPTY;
  const { cut, uncut } = cleaningOf(settings);
  const options = truncatable ? cut : uncut;
  return holdsFileContent(ready, settings) ? cleanFileOutput(text, options) : cleanOutput(text, options);
}

const EMPTY = Object.freeze({ text: '', truncated: false });

/**
 * In file contents only known secret values are redacted: a pattern that guesses could corrupt the text that
 * the model edits next (F024). A stored output does not count as a file, because no tool edits it.
 */
function holdsFileContent({ declared }: NamedCall, { outputs }: ResultSettings): boolean {
  return declared.length > 0 && declared.every((effect) => isOnPath(effect) && !outputs.owns(effect.path));
}

function isOnPath(effect: Effect): effect is Extract<Effect, { readonly path: string }> {
  return 'path' in effect;
}
