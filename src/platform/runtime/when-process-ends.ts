/** What is done when this process ends by itself; not when it is killed. */
export function whenProcessEnds(step: () => void): void {
  process.once('exit', step);
}
