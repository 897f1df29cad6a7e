import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { writeNewFiles } from '../platform/fs/write-new-files.js';
import { checkTool } from './check-tool.js';
import { openTools } from './fixtures/open-tools.js';
import { ToolsFolder } from './fixtures/tools-folder.js';
import { type TemplateLanguage, TOOL_TEMPLATES } from './tool-templates.js';

const has = (program: string, args: readonly string[]): boolean => spawnSync(program, args).status === 0;
const MISSING: Readonly<Record<TemplateLanguage, boolean>> = {
  sh: false,
  python: !has('python3', ['--version']),
  node: false,
  go: !has('go', ['version']),
};

describe.each(['sh', 'python', 'node', 'go'] as const)('the template in %s', (language) => {
  it.skipIf(MISSING[language])(
    'passes its own test, is a good tool, and is the only one of its directory',
    async () => {
      using folder = new ToolsFolder();
      const { files, next } = TOOL_TEMPLATES[language];
      expect(writeNewFiles(folder.path, files)).toBeUndefined();
      for (const line of next.filter((command) => !command.startsWith('toolexec'))) {
        const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
          cwd: folder.path,
          encoding: 'utf8',
        });
        expect([line, status, status === 0 ? '' : stdout + stderr]).toEqual([line, 0, '']);
      }
      await using service = await openTools(folder.path);
      expect(service.list()).toMatchObject([{ name: 'greet', status: 'ready' }]);
      const { steps } = await checkTool(service.list()[0]?.path ?? '', { timeoutMs: 30_000 });
      const judged = steps.filter(({ name }) => name !== 'ended early' && name !== 'schema');
      expect(judged.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
      expect(judged.length).toBeGreaterThan(6);
      expect(writeNewFiles(folder.path, files)).toContain(folder.path);
    },
    60_000,
  );
});
