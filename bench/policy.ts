import { toolexecPolicy } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Row, toRow } from './row.js';

const RULES = 1_000;
const DECISIONS = 2_000;

/** `policy.decide` without rules, and among a thousand that speak of commands, paths, hosts and tools. */
export async function measurePolicy(scale: Scale): Promise<readonly Row[]> {
  const plain = toolexecPolicy.createPolicy();
  const ruled = toolexecPolicy.createPolicy({
    rules: Array.from({ length: RULES }, (_, index) => ruleOf(index)),
  });
  const { none, path, command, url, tool } = await interleave(
    {
      none: repeat(plain, pathCall),
      path: repeat(ruled, pathCall),
      command: repeat(ruled, commandCall),
      url: repeat(ruled, urlCall),
      tool: repeat(ruled, toolCall),
    },
    { rounds: scale === 'quick' ? 3 : 40, warmUps: scale === 'quick' ? 1 : 5 },
  );
  const beside = ['without rules', none] as const;
  const goal = { of: 'ours', atMost: 20 } as const;
  return [
    toRow('a path', path, beside, { computing: true, goal }),
    toRow('a command', command, beside, { computing: true, goal }),
    toRow('a host', url, beside, { computing: true, goal }),
    toRow('a tool', tool, beside, { computing: true, goal }),
  ];
}

type Rule = NonNullable<NonNullable<Parameters<typeof toolexecPolicy.createPolicy>[0]>['rules']>[number];
type Question = Parameters<ReturnType<typeof toolexecPolicy.createPolicy>['decide']>[0];

function ruleOf(index: number): Rule {
  const decision = index % 3 === 0 ? 'deny' : 'allow';
  switch (index % 4) {
    case 0:
      return { decision, command: `program${index} run *` };
    case 1:
      return { decision, path: `src/part${index}/**` };
    case 2:
      return { decision, url: `*.host${index}.example` };
    default:
      return { decision, tool: `tool_${index}`, effect: 'write' };
  }
}

const TRAITS = { aliases: [], sideEffecting: true, requiresApproval: false, roots: ['/work'] };

function pathCall(index: number): Question {
  const path = `src/part${index % RULES}/file.ts`;
  const places = [{ at: `/work/${path}` }];
  return { ...TRAITS, name: 'write_file', effects: [{ kind: 'write', path }], places };
}

function commandCall(index: number): Question {
  return {
    ...TRAITS,
    name: 'bash',
    effects: [{ kind: 'run', command: `program${index % RULES} run all`, shell: 'bash' }],
  };
}

function urlCall(index: number): Question {
  return {
    ...TRAITS,
    name: 'web_fetch',
    effects: [{ kind: 'fetch', url: `https://a.host${index % RULES}.example/` }],
  };
}

function toolCall(index: number): Question {
  return { ...TRAITS, name: `tool_${index % RULES}`, effects: [{ kind: 'unknown' }] };
}

function repeat(
  policy: ReturnType<typeof toolexecPolicy.createPolicy>,
  call: (index: number) => Question,
): Contender {
  return {
    units: DECISIONS,
    run() {
      let length = 0;
      for (let index = 0; index < DECISIONS; index++) length += policy.decide(call(index)).reason.length;
      return length;
    },
  };
}
