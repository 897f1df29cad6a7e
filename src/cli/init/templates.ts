import type { NewFile } from '../../platform/fs/write-new-files.js';
import { AGENTS } from './template-agents.js';
import { AI_SDK } from './template-ai-sdk.js';
import { CLAUDE_AGENT } from './template-claude-agent.js';
import { LANGCHAIN } from './template-langchain.js';
import { MASTRA } from './template-mastra.js';
import { MCP } from './template-mcp.js';

/** A project for one framework: the parts in which the projects differ. */
export interface HostTemplate {
  /** For the README: "an agent of …". */
  readonly title: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Files by their path. */
  readonly files: Readonly<Record<string, string>>;
}

const TEMPLATES = {
  'ai-sdk': AI_SDK,
  agents: AGENTS,
  langchain: LANGCHAIN,
  'claude-agent': CLAUDE_AGENT,
  mastra: MASTRA,
  mcp: MCP,
} as const;

export type HostOfProject = keyof typeof TEMPLATES;
export const HOSTS_OF_PROJECTS = Object.keys(TEMPLATES) as HostOfProject[];

const EXECUTOR = `import { createExecutor, type Executor, loadConfig } from 'toolexec';

/** Tools for the files in a folder. The journal keeps what was asked and what ran, also for later processes. */
export function openExecutor(root = 'workspace', journal = 'journal.db'): Executor {
  return createExecutor({ ...loadConfig('toolexec.toml').executor, root, journal });
}
`;

const CONFIGURATION = `# What calls may do: https://github.com/toolexec-placeholder/toolexec/blob/main/docs/contained.md
[tools]
# Commands run in the sandbox, without network, and are asked about afterwards if they change files that run later.
profile = "contained"
`;

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['*.ts'],
};

/** @param version of toolexec */
export function projectFiles(host: HostOfProject, version: string): readonly NewFile[] {
  const { title, dependencies, devDependencies, files }: HostTemplate = TEMPLATES[host];
  // Node 20 does not find tests in TypeScript by itself.
  const tests = Object.keys(files).filter((path) => path.endsWith('.test.ts'));
  const manifest = {
    name: `toolexec-${host}`,
    private: true,
    type: 'module',
    scripts: { test: `tsc && node --import tsx --test ${tests.join(' ')}` },
    dependencies: { toolexec: `^${version}`, ...dependencies },
    devDependencies: { '@types/node': '^20.19.0', tsx: '^4.20.0', typescript: '^6.0.0', ...devDependencies },
  };
  const texts = {
    'package.json': toText(manifest),
    'tsconfig.json': toText(TSCONFIG),
    'toolexec.toml': CONFIGURATION,
    '.gitignore': 'node_modules/\njournal.db*\n',
    'README.md': readme(title),
    'workspace/notes.txt': 'Files that the model may read and, once you approve, change.\n',
    'executor.ts': EXECUTOR,
    ...files,
  };
  return Object.entries(texts).map(([path, text]) => ({ path, text, executable: false }));
}

const toText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const readme = (title: string): string => `# ${title} with toolexec

\`\`\`sh
npm install
npm test
\`\`\`

The test runs offline: its model is a fake that writes a file. The call is asked about, approved, and runs once.
\`toolexec waiting --journal journal.db\` lists open questions. \`toolexec doctor\` says whether commands are contained here.
`;
