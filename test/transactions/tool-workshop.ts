import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { ToolResult } from '../../src/contract/call.js';
import type { Executor } from '../../src/contract/executor.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { discoverTools } from '../../src/executor/discover-tools.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import type { DiscoverOptions } from '../../src/external/external-options.js';
import { removeTree } from '../../src/platform/fs/remove-tree.js';

const ANY = { input_schema: { type: 'object' }, output_schema: {} };

/** A root and a folder of programs for each test; programs run in the sandbox, with their changes kept apart. */
export class ToolWorkshop {
  around = '';

  constructor() {
    beforeEach(() => {
      this.around = realpathSync(mkdtempSync(join(tmpdir(), 'external-kept-apart-')));
      for (const path of [this.root, this.tools]) mkdirSync(path, { mode: 0o755 });
    });
    afterEach(() => removeTree(this.around));
  }

  get root(): string {
    return join(this.around, 'root');
  }

  get tools(): string {
    return join(this.around, 'tools');
  }

  outside(command: string): string {
    return execFileSync('/bin/sh', ['-c', command], { cwd: this.root, encoding: 'utf8' });
  }

  /** A program in shell. */
  add(name: string, body: string, document: object = {}): void {
    addProgram(join(this.tools, name), body, document);
  }

  async open(more: ExecutorOptions = {}, discover: DiscoverOptions = {}) {
    const external = await discoverTools(this.tools, { stateDirectory: false, ...discover });
    const executor: Executor = createExecutor({
      root: this.root,
      tools: [builtinTools(), external],
      approver: null,
      journal: join(this.around, 'journal.db'),
      ...more,
      sandbox: { os: 'required', transactions: 'required', externalTools: 'all', ...more.sandbox },
    });
    return {
      executor,
      async [Symbol.asyncDispose]() {
        await executor.close();
        await external.close();
      },
    };
  }

  async run(name: string, more: ExecutorOptions = {}, discover: DiscoverOptions = {}): Promise<ToolResult> {
    await using opened = await this.open(more, discover);
    return await opened.executor.execute(name, {});
  }
}

export function addProgram(path: string, body: string, document: object = {}): void {
  rmSync(path, { force: true });
  const schema = JSON.stringify({ ...ANY, ...document });
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --schema ]; then cat <<'EOF'\n${schema}\nEOF\nexit; fi\n${body}\n`,
  );
  chmodSync(path, 0o755);
}
