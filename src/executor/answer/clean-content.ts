import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock } from '../../contract/call.js';
import { blockWords } from '../../providers/content-words.js';

export interface ContentCleaning {
  /** Cleans the tool's text: neutralises controls, redacts secrets and cuts the text to `maxBytes`. */
  readonly cleanText: (
    text: string,
    maxBytes: number,
  ) => { readonly text: string; readonly truncated: boolean; readonly redacted?: boolean };
  /** Cleans names and addresses. */
  readonly cleanName: (text: string) => string;
  /**
   * Limit in bytes for the text of all blocks together, including the words that describe the other blocks.
   */
  readonly maxTextBytes: number;
  /** Limit in bytes for the data of all blocks together. */
  readonly maxContentBytes: number;
  /** Stores data that is too large, and returns where it can be read. */
  readonly keep: (data: Uint8Array) => string | undefined;
}

export interface CleanContent {
  readonly blocks: readonly ContentBlock[];
  /** True if part of a text was cut, or a block was too large. */
  readonly truncated: boolean;
  readonly redacted: boolean;
  /** Where the first block that was too large can be read. */
  readonly outputRef?: string;
}

/**
 * Prepares blocks to be shown, recorded and sent: texts are cleaned and cut, and a block that is too large is
 * replaced by a text.
 */
export function cleanContent(content: readonly ContentBlock[], cleaning: ContentCleaning): CleanContent {
  const cleaner = new ContentCleaner(content, cleaning);
  const blocks = content.map((block) => withBase64Json(cleaner.clean(block)));
  const { truncated, redacted, outputRef } = cleaner;
  return {
    // Drop texts that are empty after cleaning.
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
    // Each block's words are followed by a line end.
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
