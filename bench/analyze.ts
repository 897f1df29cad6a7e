import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import type { Row } from './row.js';

const EVERYDAY = [
  'ls -la',
  'git status --short',
  'npm test -- --reporter=dot',
  'grep -rn "TODO" src | head -20',
  "sed -n '1,80p' src/index.ts",
  'cd packages/core && npx vitest run src/engine 2>&1 | tail -40',
  'for f in src/*.ts; do wc -l "$f"; done',
  'find . -name "*.ts" -not -path "./node_modules/*" | xargs grep -l foo',
];

/** Texts of 64 KB, or nearly, that are meant to take long. */
const HOSTILE = [
  '$('.repeat(32_000),
  'echo $(id) '.repeat(5_900),
  `echo ${'{a,'.repeat(15_000)}${'}'.repeat(15_000)}`,
  `${'$(echo '.repeat(20)}${'x '.repeat(32_000)}${')'.repeat(20)}`,
  'a;'.repeat(32_000),
];

const NAME: string = 'toolexec/policy';

/** The built package; loaded here alone, as the parser must not weigh on what else is measured. */
const policy: typeof import('../src/policy.js') = await import(NAME);

/** The cost of analyzing a command before it runs: an everyday command, and one written to take long. */
export async function measureAnalysis(scale: Scale): Promise<readonly Row[]> {
  const { everyday, hostile } = await interleave(
    { everyday: judge(EVERYDAY, scale === 'quick' ? 5 : 100), hostile: judge(HOSTILE, 1) },
    { rounds: scale === 'quick' ? 2 : 20, warmUps: scale === 'quick' ? 1 : 5 },
  );
  return [
    {
      what: 'an everyday command',
      unit: 'µs',
      ours: everyday.wallUs,
      cpu: everyday.cpuUs,
      goal: { of: 'ours', atMost: 100 },
    },
    {
      what: '64 KB that are meant to take long',
      unit: 'ms',
      ours: hostile.wallUs / 1000,
      cpu: hostile.cpuUs / 1000,
      goal: { of: 'ours', atMost: 100 },
    },
  ];
}

function judge(texts: readonly string[], times: number): Contender {
  return {
    units: texts.length * times,
    run() {
      let found = 0;
      for (let done = 0; done < times; done++) {
        for (const text of texts) found += policy.analyzeCommand(text).commands.length;
      }
      return found;
    },
  };
}
