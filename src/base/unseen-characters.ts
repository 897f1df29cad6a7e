/*
 * A function, because V8 takes milliseconds to build a Unicode set: only programs that show text pay for it.
 */

/**
 * Invisible characters: controls, formats, blanks other than the space, fillers, private and invalid
 * characters.
 */
export const unseenCharacters = (): RegExp =>
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
