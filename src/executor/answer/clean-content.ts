import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock } from '../../contract/call.js';
import { blockWords } from '../../providers/content-words.js';

export interface ContentCleaning {
  /** Of the tool's text: neutralised, redacted, cut to so many bytes. */
  readonly cleanText: (
    text: string,
    maxBytes: number,
  ) => { readonly text: string; readonly truncated: boolean; readonly redacted?: boolean };
  /** Of names and addresses. */
  readonly cleanName: (text: string) => string;
  /** Bytes of text in all blocks, with the words that stand for other blocks. */
  readonly maxTextBytes: number;
  /** Bytes of data in all blocks. */
  readonly maxContentBytes: number;
  /** Keeps what is too large; gives where it can be read. */
  readonly keep: (data: Uint8Array) => string | undefined;
}

export interface CleanContent {
  readonly blocks: readonly ContentBlock[];
  /** Something is missing: of a text, or a block that is too large. */
  readonly truncated: boolean;
  readonly redacted: boolean;
  /** Of the first block that is too large. */
  readonly outputRef?: string;
}

/** Blocks as they may be shown, recorded and sent: texts are cleaned and cut, and what is too large becomes a text. */
export function cleanContent(content: readonly ContentBlock[], cleaning: ContentCleaning): CleanContent {
  const cleaner = new ContentCleaner(content, cleaning);
  const blocks = content.map((block) => withBase64Json(cleaner.clean(block)));
  const { truncated, redacted, outputRef } = cleaner;
  return {
    // A text of which nothing is left says nothing.
    blocks: Object.freeze(blocks.filter((block) => block.type !== 'text' || block.text !== '')),
    truncated,
    redacted,
    ...(outputRef === undefined ? {} : { outputRef }),
  };
}

class ContentCleaner {
  truncated = false;
  redacted = false;
  outputRef: string | undefined = undefined;
  readonly #cleaning: ContentCleaning;
  #textRoom: number;
  #dataRoom: number;

  constructor(content: readonly ContentBlock[], cleaning: ContentCleaning) {
    this.#cleaning = cleaning;
    this.#dataRoom = cleaning.maxContentBytes;
    // With a line end behind each.
    const frame = content.reduce(
      (sum, block) => sum + Buffer.byteLength(blockWords(withoutText(block))) + 1,
      0,
    );
    this.#textRoom = Math.max(0, cleaning.maxTextBytes - frame);
  }

  clean(block: ContentBlock): ContentBlock {
    const { cleanName } = this.#cleaning;
    switch (block.type) {
      case 'text':
        return { type: 'text', text: this.#text(block.text) };
      case 'resource_link': {
        const { description } = block;
        const more = description === undefined ? {} : { description: this.#text(description) };
        return { ...block, uri: cleanName(block.uri), name: cleanName(block.name), ...more };
      }
      case 'resource': {
        const uri = cleanName(block.uri);
        return block.text === undefined
          ? this.#fit({ ...block, uri })
          : { ...block, uri, text: this.#text(block.text) };
      }
      default:
        return this.#fit({ ...block });
    }
  }

  #text(text: string): string {
    const cleaned = this.#cleaning.cleanText(text, this.#textRoom);
    this.#textRoom -= Buffer.byteLength(cleaned.text);
    this.truncated ||= cleaned.truncated;
    this.redacted ||= cleaned.redacted === true;
    return cleaned.text;
  }

  #fit(block: ContentBlock & { readonly data: Uint8Array }): ContentBlock {
    const { maxContentBytes, keep } = this.#cleaning;
    if (block.data.length <= this.#dataRoom) {
      this.#dataRoom -= block.data.length;
      return block;
    }
    this.truncated = true;
    const ref = keep(block.data);
    this.outputRef ??= ref;
    const limit = maxContentBytes.toLocaleString('en-US');
    const where = ref === undefined ? 'It could not be kept.' : `Read it with read_file: path "${ref}".`;
    const why = `left out, because a result holds at most ${limit} bytes of content. ${where}`;
    return { type: 'text', text: blockWords(block, why) };
  }
}

function withoutText(block: ContentBlock): ContentBlock {
  if (block.type === 'text') return { type: 'text', text: '' };
  return block.type === 'resource' && block.text !== undefined ? { ...block, text: '' } : block;
}
