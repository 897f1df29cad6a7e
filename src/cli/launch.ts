#!/usr/bin/env node
import { join } from 'node:path';
import { removeLeftover, useCompileCache } from '../platform/runtime/compile-cache.js';
import { readEnvironment, stateHome } from '../platform/runtime/environment.js';

prepareStart();
void import('./main.js').then(({ main }) => main());

function prepareStart(): void {
  const env = readEnvironment();
  const state = stateDirectoryOf(env);
  if (state === undefined) return;
  // Earlier versions kept compiled code, which V8 does not verify.
  removeLeftover(join(state, 'compiled'));
  // Coverage is incomplete for cached code. Node itself respects NODE_DISABLE_COMPILE_CACHE.
  const { NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = env;
  if (NODE_DISABLE_COMPILE_CACHE === undefined && NODE_V8_COVERAGE === undefined)
    useCompileCache(join(state, 'node-compile-cache'));
}

/** Undefined for a user without a home that the system does not know. */
function stateDirectoryOf(env: Readonly<Record<string, string>>): string | undefined {
  try {
    return join(stateHome(env), 'toolexec');
  } catch {
    return undefined;
  }
}
