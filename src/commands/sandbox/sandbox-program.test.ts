import { writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openReportFile, type Report } from '../../platform/process/report-file.js';
import { endToldBy, readReport } from './sandbox-program.js';

/** The report after a command has overwritten it with these words. */
function reportOf(words: string): Report | undefined {
  const report = openReportFile();
  try {
    if (report !== undefined) writeSync(report.fd, words);
    return report?.read();
  } finally {
    report?.close();
  }
}

describe.skipIf(process.platform !== 'linux')('a report (skipped where it has no file)', () => {
  it('contains the end as soon as its last line is complete, not before', () => {
    expect(endToldBy(reportOf('started\nended 0\n'))).toEqual({ exitCode: 0, signal: null });
    expect(endToldBy(reportOf('started\nKilled\nended 137\n'))).toEqual({ exitCode: 137, signal: null });
    for (const words of [
      '',
      'started\n',
      'started\nended \n',
      'started\nended 0\nmore\n',
      'started\nended 1234\n',
    ])
      expect(endToldBy(reportOf(words))).toBeUndefined();
    expect(endToldBy(undefined)).toBeUndefined();
  });

  it('has its full size from the start, and unwritten parts mean nothing', () => {
    expect(reportOf('')).toEqual({ text: '\n'.repeat(4096), isTouched: false });
    const end = { exitCode: 3, signal: null };
    expect(readReport(end, reportOf(''))).toMatchObject({ neverStarted: true });
    expect(readReport(end, reportOf('started\nended 3\n'))).toEqual({
      ...end,
      neverStarted: false,
      tidied: true,
    });
    const counted = 'started\nKilled\nrefused 2 1\nended 137\n';
    expect(readReport({ exitCode: 137, signal: null }, reportOf(counted))).toMatchObject({
      signal: 'SIGKILL',
      counts: { noRoute: 2, noPort6: 1 },
    });
    expect(readReport(end, reportOf('started\nrefused 0 0\nended 3\n'))).toMatchObject({
      ...end,
      tidied: true,
    });
    const killed = reportOf('started\nKilled\nended 137\n');
    expect(readReport({ exitCode: 137, signal: null }, killed)).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
    });
  });
});
