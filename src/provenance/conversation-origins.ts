import type { JsonObject, JsonValue } from '../contract/json.js';
import type { CallOrigins, Origin, OriginView } from '../contract/origin.js';
import { isUntrusted } from '../patterns/origin.js';
import { LEAST_CHARACTERS, normalize, TextIndex, WantedText } from './text-index.js';

/**
 * For one conversation: characters and bytes of results whose text is searched. Older results count only for
 * `seen`.
 */
const MOST_BYTES = 16_777_216;
/** For one result. */
const MOST_CHARACTERS = 1_048_576;
/** For one call, and for one argument. */
const MOST_ARGUMENTS = 100;
const MOST_PIECES = 200;
const LONGEST_PIECE = 10_000;

/** The key of the fact that a conversation was marked clean; its value holds the time. */
export const CLEAN_MARK = 'origins:clean';

interface SeenText {
  readonly callId: string;
  readonly origin: readonly Origin[];
  readonly index: TextIndex;
}

/**
 * The origins of the data that a model has seen in one conversation, since it was last marked clean.
 *
 * 1. `seen` is complete: no result leaves it before the mark.
 * 2. `args` is exact for copied text: it is found in the results, ignoring white space and case, and after
 *   percent signs and base64 were decoded once. The newest 16 MB of results are searched.
 */
export class ConversationOrigins implements OriginView {
  readonly #seen = new Set<Origin>();
  #texts: SeenText[] = [];
  #bytes = 0;

  /** @returns the origins that are new here */
  add(callId: string, origin: readonly Origin[], text: string): readonly Origin[] {
    const fresh = origin.filter((one) => !this.#seen.has(one));
    for (const one of fresh) this.#seen.add(one);
    // Words of the person or of the host program cannot make the model do anything against their will.
    if (text.length < LEAST_CHARACTERS || origin.every((one) => one === 'user')) return fresh;
    const index = new TextIndex(text.slice(0, MOST_CHARACTERS));
    this.#texts.push({ callId, origin, index });
    this.#bytes += index.size;
    while (this.#bytes > MOST_BYTES) this.#bytes -= this.#texts.shift()?.index.size ?? this.#bytes;
    return fresh;
  }

  /** Another process has added it. */
  recall(origin: Origin): void {
    this.#seen.add(origin);
  }

  clear(): void {
    this.#seen.clear();
    this.#texts = [];
    this.#bytes = 0;
  }

  /** Nothing relevant was seen: words of the person or of the host program do not count. */
  get isEmpty(): boolean {
    return this.#seen.size === 0 || (this.#seen.size === 1 && this.#seen.has('user'));
  }

  get seen(): readonly Origin[] {
    return [...this.#seen];
  }

  of(args: JsonObject): CallOrigins {
    const found: Record<string, readonly Origin[]> = {};
    const places: Record<string, string> = {};
    if (this.#texts.length > 0) {
      for (const [pointer, text] of textsIn(args)) {
        const hit = this.#find(text);
        if (hit === undefined) continue;
        found[pointer] = hit.origins;
        places[pointer] = hit.place;
      }
    }
    return { seen: this.seen, args: found, places };
  }

  #find(argument: string): { readonly origins: readonly Origin[]; readonly place: string } | undefined {
    const origins = new Set<Origin>();
    let place: string | undefined;
    for (const piece of piecesOf(argument)) {
      const wanted = new WantedText(piece);
      for (const { callId, origin, index } of this.#texts) {
        if (!index.holds(wanted)) continue;
        for (const one of origin) origins.add(one);
        // The first place that is from outside is the one to name.
        if (place === undefined || (origin.some(isUntrusted) && !place.endsWith('!'))) {
          const line = index.lineOf(wanted);
          const mark = origin.some(isUntrusted) ? '!' : '';
          place = `${line === undefined ? '' : `line ${line} of `}${callId}${mark}`;
        }
      }
    }
    return origins.size === 0 || place === undefined
      ? undefined
      : { origins: [...origins], place: place.replace(/!$/, '') };
  }
}

function* textsIn(args: JsonObject): Generator<readonly [pointer: string, text: string]> {
  const waiting: (readonly [string, JsonValue])[] = [['', args]];
  for (let count = 0; count < MOST_ARGUMENTS && waiting.length > 0; ) {
    const [pointer, value] = waiting.shift() as readonly [string, JsonValue];
    if (typeof value === 'string') {
      if (value.length < LEAST_CHARACTERS) continue;
      count++;
      yield [pointer, value];
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        if (waiting.length < MOST_PIECES) waiting.push([`${pointer}/${escapeKey(key)}`, each as JsonValue]);
      }
    }
  }
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The whole of an argument, its words, and both decoded once; normalized, each once. */
function piecesOf(argument: string): ReadonlySet<string> {
  const pieces = new Set<string>();
  const take = (text: string): void => {
    const normalized = normalize(text.slice(0, LONGEST_PIECE));
    if (normalized.length >= LEAST_CHARACTERS && pieces.size < MOST_PIECES) pieces.add(normalized);
  };
  for (const form of [argument, decodedUrl(argument)]) {
    if (form === undefined) continue;
    take(form);
    for (const word of form.slice(0, LONGEST_PIECE).split(BETWEEN)) {
      take(word);
      const decoded = decodedBase64(word);
      if (decoded !== undefined) take(decoded);
    }
  }
  return pieces;
}

const BETWEEN = /[\s"'`<>()[\]{},;&=?#|]+/;

function decodedUrl(text: string): string | undefined {
  if (!/%[0-9a-f]{2}/i.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function decodedBase64(word: string): string | undefined {
  if (word.length < 12 || !/^[A-Za-z0-9+/_-]+$/.test(word)) return undefined;
  const text = Buffer.from(word, 'base64').toString('utf8');
  return text.includes('\ufffd') ? undefined : text;
}
