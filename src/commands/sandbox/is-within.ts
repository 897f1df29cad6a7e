/** Whether a path is a directory or lies below it; both absolute, without `.` and `..`. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}
