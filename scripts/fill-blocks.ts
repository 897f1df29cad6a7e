/** Makes a block's content from what stands after the colon of its opening comment. Undefined: it stays as it is. */
export type BlockSource = (argument: string) => string | undefined;

/**
 * Fills `<!-- kind: argument -->` … `<!-- /kind -->` in a Markdown text; what stood between them is replaced.
 * Comments of other kinds are left alone.
 * @throws Error for a block that is not closed, or whose source throws; it names the block.
 */
export function fillBlocks(text: string, sources: Readonly<Record<string, BlockSource>>): string {
  let rest = text;
  let filled = '';
  for (;;) {
    const open = /<!-- ([a-z]+): (\S.*?) -->/.exec(rest);
    if (open === null) return filled + rest;
    const [comment, kind = '', argument = ''] = open;
    const contentAt = open.index + comment.length;
    filled += rest.slice(0, contentAt);
    rest = rest.slice(contentAt);
    const source = Object.hasOwn(sources, kind) ? sources[kind] : undefined;
    if (source === undefined) continue;
    const end = rest.indexOf(`<!-- /${kind} -->`);
    if (end === -1) throw new Error(`Cannot fill ${comment}: <!-- /${kind} --> is missing.`);
    const content = source(argument);
    filled += content === undefined ? rest.slice(0, end) : `\n\n${content.trim()}\n\n`;
    rest = rest.slice(end);
  }
}
