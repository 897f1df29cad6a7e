#!/usr/bin/env node
import { join } from 'node:path';
import { loadCompiled } from '../platform/runtime/compiled-code.js';
import {
  machineArchitecture,
  nodeVersion,
  readEnvironment,
  stateHome,
} from '../platform/runtime/environment.js';

/** The hash of the command's files, which the build puts in its place. */
declare const BUILD: string;

keepCompiled();
require('./main.cjs');

function keepCompiled(): void {
  const env = readEnvironment();
  const { NODE_DISABLE_COMPILE_CACHE, NODE_V8_COVERAGE } = env;
  // Coverage counts too little of what was compiled elsewhere.
  if (NODE_DISABLE_COMPILE_CACHE !== undefined || NODE_V8_COVERAGE !== undefined) return;
  const directory = stateDirectoryOf(env);
  if (directory === undefined) return;
  const name = `${BUILD}-${nodeVersion()}-${machineArchitecture()}`;
  loadCompiled(__dirname, join(directory, 'toolexec', 'compiled', name));
}

/** Undefined for a user that the system does not know, without a home. */
function stateDirectoryOf(env: Readonly<Record<string, string>>): string | undefined {
  try {
    return stateHome(env);
  } catch {
    return undefined;
  }
}
