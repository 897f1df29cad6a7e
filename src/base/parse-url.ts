/**
 * The URL that `text` is, if it is one. Not by `URL.canParse`: once V8 has optimised a caller, Node 20's takes texts
 * with Latin-1 letters (`https://bücher.example/`) for no URLs.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
