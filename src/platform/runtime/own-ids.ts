/** Of the user and the group that this process acts as; 0 where the system has none. */
export function ownIds(): { readonly uid: number; readonly gid: number } {
  return { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
}
