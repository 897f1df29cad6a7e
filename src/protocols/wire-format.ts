/** The shapes in which models ask for tools and are answered. */
export type WireFormat = 'native' | 'fenced' | 'anthropic' | 'openai' | 'openai-responses' | 'gemini';
