import { closeSync, readSync } from 'node:fs';
import { openUnnamedFile } from './unnamed-file.js';

/** An open file without a name, in which a program of ours tells what no exit code can. */
export interface ReportFile {
  /** For the program to inherit. */
  readonly fd: number;
  /** What it has written so far: the first 4 KiB. */
  read(): string;
  close(): void;
}

/** Undefined where the system has no such files, or no room. */
export function openReportFile(): ReportFile | undefined {
  const fd = openUnnamedFile(0o600, BLANK);
  return fd === undefined ? undefined : reportFile(fd);
}

/** Written over: what is reported finds its room, also where the disk has become full. */
const BLANK = '\n'.repeat(4096);

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
