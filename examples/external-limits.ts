// Tools that stream, serve many calls from one process, and are held to limits.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createExecutor, discoverTools } from 'toolexec';

const directory = join(import.meta.dirname, 'external-tools');

// #region options
await using external = await discoverTools(directory, {
  trusted: true,
  warm: { processes: 2, maxCalls: 500 },
  breaker: { threshold: 3, cooldownMs: 10_000 },
  versions: { 'word-count': '^1.2', countdown: '1.x' },
  maxConcurrent: { slug: 2 },
  trace: () => ({ traceparent: activeSpan(), end: ({ durationMs, code }) => record(durationMs, code) }),
});
// #endregion options
await using executor = createExecutor({ external, approver: null });

const counts = await Promise.all(
  ['one', 'one two', 'one two three'].map((text) => executor.execute('word-count', { text })),
);
assert.deepEqual(
  counts.map(({ structured }) => structured),
  [
    { words: 1, characters: 3 },
    { words: 2, characters: 7 },
    { words: 3, characters: 13 },
  ],
);
assert.equal(counts[0]?.metadata.warm, true);

const [countdown] = external.list().filter(({ name }) => name === 'countdown');
assert.equal(countdown?.status, 'error');
console.log(countdown?.errorMessage);

// #region stream
await using newer = await discoverTools(directory, { trusted: true, versions: { countdown: '^2' } });
await using other = createExecutor({ external: newer, approver: null });
const run = other.start([{ id: '1', name: 'countdown', args: {} }]);
for await (const event of run.events) if (event.type === 'stdout') process.stdout.write(event.chunk);
// #endregion stream
assert.deepEqual((await run.results)[0]?.structured, { left: 0 });

/** The active span of your tracer. OpenTelemetry's propagator writes the same. */
function activeSpan(): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
}

function record(durationMs: number, code = 'ok'): void {
  console.log(`a call: ${code}, ${durationMs < 60_000 ? 'in time' : 'late'}`);
}
