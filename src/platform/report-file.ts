import { closeSync, constants, openSync, readSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** An open file without a name, in which a program of ours tells what no exit code can. */
export interface ReportFile {
  /** For the program to inherit. */
  readonly fd: number;
  /** What it has written so far: the first 4 KiB. */
  read(): string;
  close(): void;
}

/** Undefined where the system has no such files. */
export function openReportFile(): ReportFile | undefined {
  for (const folder of ['/dev/shm', tmpdir()]) {
    const fd = openUnnamed(folder);
    if (fd !== undefined) return reportFile(fd);
  }
  return undefined;
}

function reportFile(fd: number): ReportFile {
  let open = true;
  return {
    fd,
    read() {
      const bytes = Buffer.allocUnsafe(4096);
      return open ? bytes.toString('latin1', 0, readSync(fd, bytes, 0, bytes.length, 0)) : '';
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

/** Linux's O_TMPFILE; Node does not name it. */
const O_TMPFILE = 0o20_000_000 | constants.O_DIRECTORY;

function openUnnamed(folder: string): number | undefined {
  try {
    return openSync(folder, O_TMPFILE | constants.O_RDWR, 0o600);
  } catch {
    return undefined;
  }
}
