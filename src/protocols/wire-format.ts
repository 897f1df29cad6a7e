const FORMATS = ['native', 'fenced', 'anthropic', 'openai', 'openai-responses', 'gemini'] as const;

/** The shapes in which models ask for tools and are answered. */
export type WireFormat = (typeof FORMATS)[number];

export function isWireFormat(value: unknown): value is WireFormat {
  return FORMATS.some((format) => format === value);
}
