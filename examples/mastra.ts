// The agent in `mastra/agent.mjs` runs where Mastra is installed: `npm install @mastra/core`, with Node 22.13 or newer.
import { createRequire } from 'node:module';

try {
  createRequire(import.meta.url).resolve('@mastra/core');
} catch {
  console.log('Skipped: @mastra/core is not installed here.');
  process.exit();
}
const agent: string = './mastra/agent.mjs';
await import(agent);
