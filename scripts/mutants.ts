// Mutation testing: changes the code at one place at a time, and lists the changes (mutants) that no test notices.
//   npm run mutants                     all parts
//   npm run mutants -- rules redaction  these parts
//   npm run mutants -- redaction src/output/redact.ts:40-90   these lines of one part
// Exits with 1 if fewer than 85 of 100 mutants of a part are noticed, and with 2 if an argument is wrong.
import { relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

/** Files whose mistakes would be silent, and the tests that must notice them. */
const PARTS: Readonly<
  Record<string, { readonly files: readonly string[]; readonly tests: readonly string[] }>
> = {
  call: {
    files: [
      'src/executor/run-call.ts',
      'src/executor/run-batch.ts',
      'src/executor/record/recorder.ts',
      'src/executor/execute/execution.ts',
    ],
    tests: ['src/executor/**/*.test.ts', 'test/recovery/**/*.test.ts'],
  },
  rules: {
    files: ['src/policy/evaluation/*.ts'],
    tests: ['src/policy/**/*.test.ts', 'src/executor/plan/**/*.test.ts', 'test/provenance/**/*.test.ts'],
  },
  transactions: {
    files: [
      'src/commands/transaction/scan-changes.ts',
      'src/commands/transaction/commit-transaction.ts',
      'src/commands/transaction/sweep-transactions.ts',
    ],
    tests: ['src/commands/**/*.test.ts', 'test/transactions/**/*.test.ts'],
  },
  containment: {
    files: ['src/files/containment.ts', 'src/executor/plan/containment.ts'],
    tests: [
      'src/files/**/*.test.ts',
      'src/executor/plan/**/*.test.ts',
      'src/tools/**/*.test.ts',
      'test/transactions/containment.test.ts',
    ],
  },
  redaction: {
    files: ['src/output/redact.ts', 'src/output/create-redactor.ts', 'src/output/hide-assignments.ts'],
    tests: ['src/output/**/*.test.ts'],
  },
};
const GOAL = 85;

const [named, lines] = [
  process.argv.slice(2).filter(isPart),
  process.argv.slice(2).filter((each) => !isPart(each)),
];
if (
  lines.some((each) => !/^src\/.+\.ts(:\d+-\d+)?$/.test(each)) ||
  (lines.length > 0 && named.length !== 1)
) {
  console.error(
    `Name parts (${Object.keys(PARTS).join(', ')}), or one part and files of src/ with or without lines.`,
  );
  process.exit(2);
}
const scores: number[] = [];
for (const name of named.length > 0 ? named : Object.keys(PARTS)) scores.push(await testPart(name));
process.exit(scores.every((score) => score >= GOAL) ? 0 : 1);

function isPart(name: string): boolean {
  return Object.hasOwn(PARTS, name);
}

/** @returns how many of 100 mutants the tests notice */
async function testPart(name: string): Promise<number> {
  const { files, tests } = PARTS[name] as (typeof PARTS)[string];
  process.env.TOOLEXEC_MUTANT_TESTS = tests.join(' ');
  const mutants = await new Stryker({
    mutate: lines.length > 0 ? lines : [...files],
    testRunner: 'vitest',
    vitest: { configFile: 'scripts/mutants.vitest.ts', related: false },
    coverageAnalysis: 'perTest',
    // Values that are computed at import time: each would need the whole run of the tests, in a process of its own.
    ignoreStatic: true,
    // Messages and names: tests of the public face pin them.
    mutator: { plugins: null, excludedMutations: ['StringLiteral'] },
    concurrency: 2,
    tempDirName: '.tmp/mutants',
    ignorePatterns: ['dist', 'coverage'],
    reporters: ['progress-append-only'],
    allowConsoleColors: false,
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 60,
  }).runMutationTest();
  const survived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
  for (const { fileName, location, replacement, mutatorName } of survived)
    console.log(
      `${relative('.', fileName)}:${location.start.line}:${location.start.column + 1}  ${mutatorName}: ${replacement}`,
    );
  const score = (100 * noticed) / Math.max(1, noticed + survived.length);
  console.log(
    `${name}: ${noticed} of ${noticed + survived.length} mutants noticed, ${score.toFixed(1)} % (goal ${GOAL} %)`,
  );
  return score;
}
