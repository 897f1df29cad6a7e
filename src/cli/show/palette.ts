export type Paint = (text: string) => string;

export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
}

/** Colours where they are wanted: NO_COLOR beats FORCE_COLOR, which beats what the stream is. */
export function createPalette(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  const colours = wantsColour(isTerminal, env);
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colours ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}

function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined) return !['', '0', 'false'].includes(env.FORCE_COLOR);
  return isTerminal && env.TERM !== 'dumb';
}
