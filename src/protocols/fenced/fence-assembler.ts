import { JsonTextError } from '../../base/json-text-error.js';
import { parseJson } from '../../base/parse-json.js';
import { isRecord } from '../is-record.js';
import { toNativeCall } from '../native/native-protocol.js';
import type { RawCall } from '../raw-call.js';
import type { CallAssembler } from '../wire-protocol.js';
import { createFenceLabels, type FenceLabels } from './fence-labels.js';

/**
 * Finds the calls in a model's text, however it is cut (A012, A021–A028). A block begins after a fence line and ends
 * with the first line that begins with three backticks: no valid JSON string holds a line end, so none can be
 * mistaken for that. Linear: a character is looked at once, and of a line only what may be a fence is kept.
 */
export function createFenceAssembler(labels?: readonly string[]): CallAssembler {
  const scanner = new FenceScanner(createFenceLabels(labels));
  return {
    push: (event) => (typeof event === 'string' ? scanner.push(event) : [NO_TEXT]),
    end: () => scanner.end(),
  };
}

const FENCE = '```';
const NO_TEXT: RawCall = { problem: 'a string with the next piece of text was expected.' };

class FenceScanner {
  readonly #labels: FenceLabels;
  /** The line so far while it may be a fence line; undefined once it cannot. */
  #head: string | undefined = '';
  /** The open block, or undefined in prose. */
  #block: { readonly label: string; body: string } | undefined;
  /** In prose, inside a block that is none of ours: the next bare fence closes it. */
  #isForeign = false;
  /** This line has closed a block: it is no bare fence any more, though it may still open a labelled block. */
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

/** The call of a closed block. A block that only a widened label opened may hold something else: it is left alone. */
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
