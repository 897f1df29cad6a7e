import { JsonTextError } from '../../base/json-text-error.js';
import { parseJson } from '../../base/parse-json.js';
import { toNativeCall } from '../native/read.js';
import type { CallAssembler } from '../provider.js';
import type { RawCall } from '../raw-call.js';
import { isRecord } from '../unknown-value.js';

/**
 * Finds the calls in a model's text, regardless of how it is split into chunks (A012, A021–A028). A block starts after
 * a fence line and ends at the first line that starts with three backticks: no valid JSON string contains a line end,
 * so it cannot contain such a line. Linear: each character is read once, and only possible fence lines are kept.
 */
export function createFenceAssembler(labels?: readonly string[]): CallAssembler {
  const scanner = new FenceScanner(createFenceLabels(labels));
  return {
    push: (event) => (typeof event === 'string' ? scanner.push(event) : [NO_TEXT]),
    end: () => scanner.end(),
  };
}

/** Reads the text as a stream with one chunk. */
export function readFences(text: unknown, labels?: readonly string[]): readonly RawCall[] {
  const assembler = createFenceAssembler(labels);
  return [...assembler.push(text), ...assembler.end()];
}

const FENCE = '```';
const NO_TEXT: RawCall = { problem: 'a string with the next piece of text was expected.' };

class FenceScanner {
  readonly #labels: FenceLabels;
  /** The current line while it may be a fence line; otherwise undefined. */
  #head: string | undefined = '';
  /** The open block, or undefined in prose. */
  #block: { readonly label: string; body: string } | undefined;
  /** Inside a code block of another kind, which the next bare fence closes. */
  #isForeign = false;
  /** This line has closed a block, so it is not a bare fence; it may still open a labelled block. */
  #hasClosed = false;

  constructor(labels: FenceLabels) {
    this.#labels = labels;
  }

  push(text: string): readonly RawCall[] {
    const found: RawCall[] = [];
    let at = 0;
    while (at < text.length) {
      if (this.#head === undefined) {
        at = this.#skipLine(text, at);
      } else {
        this.#extendHead(this.#head, text.charAt(at), found);
        at += 1;
      }
    }
    return found;
  }

  end(): readonly RawCall[] {
    if (this.#block === undefined) return [];
    this.#block = undefined;
    return [{ problem: 'the text ends inside its block. Close it with a line ```.', unfinished: true }];
  }

  #skipLine(text: string, at: number): number {
    const lineEnd = text.indexOf('\n', at);
    const next = lineEnd === -1 ? text.length : lineEnd + 1;
    if (this.#block !== undefined) this.#block.body += text.slice(at, next);
    if (lineEnd !== -1) {
      this.#head = '';
      this.#hasClosed = false;
    }
    return next;
  }

  #extendHead(head: string, character: string, found: RawCall[]): void {
    if (this.#block !== undefined) this.#extendInBlock(this.#block, head + character, found);
    else if (character === '\n') this.#endLine(head);
    else this.#head = this.#labels.mayBecomeFence(head + character) ? head + character : undefined;
  }

  #extendInBlock(block: { readonly label: string; body: string }, head: string, found: RawCall[]): void {
    if (head === FENCE) {
      found.push(...readBlock(block.label, block.body));
      this.#block = undefined;
      this.#hasClosed = true;
      this.#head = head;
    } else if (FENCE.startsWith(head)) {
      this.#head = head;
    } else {
      block.body += head;
      this.#head = head.endsWith('\n') ? '' : undefined;
    }
  }

  #endLine(line: string): void {
    const label = this.#labels.readLabel(line);
    const isBare = label === '';
    if (
      label !== undefined &&
      this.#labels.opens(label) &&
      !(isBare && (this.#isForeign || this.#hasClosed))
    ) {
      this.#block = { label, body: '' };
      this.#isForeign = false;
    } else if (label !== undefined && !this.#hasClosed) {
      this.#isForeign = !isBare;
    }
    this.#head = '';
    this.#hasClosed = false;
  }
}

/**
 * The call of a closed block. A block with a non-default label may hold something else and is then ignored.
 */
function readBlock(label: string, body: string): readonly RawCall[] {
  const isOurs = label === 'tool';
  if (!isOurs && !/^\s*\{/.test(body)) return [];
  try {
    const value = parseJson(body);
    return isOurs || (isRecord(value) && 'name' in value) ? [toNativeCall(value)] : [];
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    return [{ problem: `its block holds no valid JSON: ${error.detail}` }];
  }
}

/** Decides which lines open a block. A fence line is three backticks and a label. */
interface FenceLabels {
  /** Whether a line with this start may become a fence line and must be kept. */
  mayBecomeFence(head: string): boolean;
  /** The label of a whole line, or undefined if it is not a fence line. */
  readLabel(line: string): string | undefined;
  opens(label: string): boolean;
}

const MAX_LINE = 100;

/**
 * Default: exactly ```tool. Custom labels ignore case and trailing blanks; an empty label is a bare fence
 * (A021, F015).
 */
function createFenceLabels(labels: readonly string[] | undefined): FenceLabels {
  if (labels === undefined) return STRICT;
  const accepted = new Set(labels.map((label) => label.toLowerCase()));
  return {
    mayBecomeFence: (head) =>
      head.length < FENCE.length ? FENCE.startsWith(head) : head.startsWith(FENCE) && head.length < MAX_LINE,
    readLabel: (line) => /^```([^`\r\n]*?)[ \t]*\r?$/.exec(line)?.[1]?.toLowerCase(),
    opens: (label) => accepted.has(label),
  };
}

const STRICT: FenceLabels = {
  mayBecomeFence: (head) => '```tool\r'.startsWith(head),
  readLabel: (line) => (line === '```tool' || line === '```tool\r' ? 'tool' : undefined),
  opens: () => true,
};

/**
 * Whether text is prose and not JSON. Broken JSON must not count as prose: a fence quoted in one of its
 * strings would be run. But prose may start like `[Note] …`.
 */
export function isProse(text: string): boolean {
  return !BEGINS_LIKE_JSON.test(text.trimStart()) && !isJson(text);
}

const BEGINS_LIKE_JSON = /^(?:\{|\[\s*(?:[[\]{"0-9-]|true\b|false\b|null\b|$))/;

/** The remaining cases: a lone string, number or literal is a printed value. */
function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
