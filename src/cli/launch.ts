#!/usr/bin/env node
import { join } from 'node:path';
import { removeLeftover, useCompileCache } from '../platform/runtime/compile-cache.js';
import { readEnvironment, stateHome } from '../platform/runtime/environment.js';

prepareStart();
require('./main.cjs');

function prepareStart(): void {
  const env = readEnvironment();
  const state = stateDirectoryOf(env);
  if (state === undefined) return;
  // Earlier versions kept what V8 had compiled, which V8 trusts unchecked.
  removeLeftover(join(state, 'compiled'));
  // Coverage counts too little of what was compiled elsewhere. Node itself minds NODE_DISABLE_COMPILE_CACHE.
  const { NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = env;
  if (NODE_DISABLE_COMPILE_CACHE === undefined && NODE_V8_COVERAGE === undefined)
    useCompileCache(join(state, 'node-compile-cache'));
}

/** Undefined for a user that the system does not know, without a home. */
function stateDirectoryOf(env: Readonly<Record<string, string>>): string | undefined {
  try {
    return join(stateHome(env), 'toolexec');
  } catch {
    return undefined;
  }
}
