/**
 * Parses a URL; undefined if the text is not one. Does not use `URL.canParse`: after V8 has optimized a
 * caller, Node 20's version rejects URLs with Latin-1 letters (`https://bücher.example/`).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
