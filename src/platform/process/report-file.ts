import { closeSync, fstatSync, readSync } from 'node:fs';
import { openUnnamedFile } from '../fs/scratch.js';

/** An open file without a name. In it, a helper program reports what an exit code cannot express. */
export interface ReportFile {
  /** The descriptor for the program to inherit. */
  readonly fd: number;
  read(): Report;
  close(): void;
}

export interface Report {
  /** The text so far: the first 4 KiB. */
  readonly text: string;
  /** Whether it was ever written to, whatever it contains now: only the system can set that time. */
  readonly isTouched: boolean;
}

/** Undefined if the system has no such files, or the disk is full. */
export function openReportFile(): ReportFile | undefined {
  const fd = openUnnamedFile(0o600, BLANK);
  return fd === undefined ? undefined : reportFile(fd);
}

/** The report overwrites this, so there is room for it even if the disk has become full. */
const BLANK = '\n'.repeat(4096);

function reportFile(fd: number): ReportFile {
  let open = true;
  const made = changeTime(fd);
  return {
    fd,
    read() {
      if (!open) return { text: '', isTouched: true };
      const bytes = Buffer.allocUnsafe(4096);
      const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, bytes.length, 0));
      return { text, isTouched: changeTime(fd) !== made };
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

function changeTime(fd: number): bigint {
  return fstatSync(fd, { bigint: true }).ctimeNs;
}
