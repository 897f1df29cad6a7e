/**
 * The lines between `// #region name` and `// #endregion name`, without their common indentation. A region may have
 * several parts; they are joined with a blank line.
 * @throws Error when there is no such region, or a part of it is not closed.
 */
export function readRegion(source: string, name: string): string {
  const parts: string[][] = [];
  let open: string[] | undefined;
  for (const line of source.split('\n')) {
    // A shell begins a comment with one character.
    const mark = line.trim().replace(/^# #/, '// #');
    if (mark === `// #region ${name}`) {
      open = [];
    } else if (mark === `// #endregion ${name}`) {
      if (open !== undefined) parts.push(open);
      open = undefined;
    } else if (!/^\/\/ #(?:end)?region /.test(mark)) {
      open?.push(line);
    }
  }
  if (parts.length === 0 || open !== undefined) throw new Error(`Cannot find the whole region "${name}".`);
  return parts.map((lines) => withoutIndentation(lines).trim()).join('\n\n');
}

function withoutIndentation(lines: readonly string[]): string {
  const indentations = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/));
  const common = Math.min(...indentations);
  return lines.map((line) => line.slice(common)).join('\n');
}
