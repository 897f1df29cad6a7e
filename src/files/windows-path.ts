const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\..*)?$/i;

/** How Windows would misread a path component; undefined if it is a plain name. */
export function windowsFlawOf(component: string): string | undefined {
  if (component.includes(':')) return 'a colon names a drive or a stream';
  if (/[<>"|?*]/.test(component)) return 'it holds a character that Windows does not allow';
  if (/[. ]$/.test(component)) return 'Windows drops dots and spaces at the end of a name';
  if (DEVICE.test(component)) return 'it is the name of a device';
  if (/~[0-9]/.test(component)) return 'it may be the short name of something else';
  return undefined;
}
