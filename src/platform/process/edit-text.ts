import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Opens a text in the person's editor, on the terminal, whatever the standard streams are.
 * @param editor a command line, as in the variable `EDITOR`
 * @param name the file name, from which the editor recognises the kind of text
 * @throws Error if the editor cannot be started or fails
 */
export async function editText(
  text: string,
  { editor, name, env }: { editor: string; name: string; env: Readonly<Record<string, string | undefined>> },
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-edit-'));
  const terminal = openSync('/dev/tty', 'r+');
  try {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    await new Promise<void>((resolve, reject) => {
      const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
        env: { ...env },
        stdio: [terminal, terminal, terminal],
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code === 0) resolve();
        else reject(new Error(`${editor} ended with ${signal ?? `exit code ${code}`}.`));
      });
    });
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(terminal);
    rmSync(folder, { recursive: true, force: true });
  }
}
