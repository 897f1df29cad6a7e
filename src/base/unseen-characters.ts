/*
 * A function, because V8 makes a set of Unicode as slowly as it loads a module: a program that shows nothing does not
 * wait for it.
 */

/** Characters that cannot be seen: controls, formats, blanks that are no space, fillers, private and broken characters. */
export const unseenCharacters = (): RegExp =>
  /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/gu;
