/**
 * The path by which a program opens the file that it has inherited as its `index`-th (the first is its descriptor 3).
 */
export function descriptorPath(index: number): string {
  return `/dev/fd/${index + 3}`;
}
