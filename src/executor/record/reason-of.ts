const MOST_CHARACTERS = 1_000;

/** What a thrown value says, for a message: bounded, and never a throw of its own. */
export function reasonOf(thrown: unknown): string {
  try {
    const text = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
    return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  } catch {
    // It can throw when it is looked at: a proxy, a getter, an object without a prototype.
    return 'a value that cannot be shown';
  }
}
