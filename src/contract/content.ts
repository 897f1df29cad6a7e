/** Plain text; neutralised, redacted and limited as output is. */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** A picture or a sound, as bytes. */
export interface MediaBlock {
  readonly type: 'image' | 'audio';
  /** `image/png`, `audio/wav`, … */
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** Something that can be read elsewhere. */
export interface ResourceLinkBlock {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly mediaType?: string;
  readonly description?: string;
}

/** A document, with its content: exactly one of `text` and `data`. A PDF has the media type `application/pdf`. */
export type ResourceBlock = {
  readonly type: 'resource';
  readonly uri: string;
  readonly mediaType?: string;
} & (
  | { readonly text: string; readonly data?: undefined }
  | { readonly data: Uint8Array; readonly text?: undefined }
);

/** A part of a result, as MCP names them. As JSON, `data` is base64. */
export type ContentBlock = TextBlock | MediaBlock | ResourceLinkBlock | ResourceBlock;
