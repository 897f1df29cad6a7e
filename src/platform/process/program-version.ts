import { execFile } from 'node:child_process';

/** What a program says with `--version`: the first number in its first line. Undefined where it says none in 5 s. */
export function programVersion(file: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { timeout: 5000, encoding: 'utf8' }, (error, said) => {
      resolve(error === null ? /\d+(?:\.\d+)+[\w.-]*/.exec(said)?.[0] : undefined);
    });
  });
}
