import { beforeEach } from 'vitest';

// A soak runs of these files what `npm test` has left out, and not the rest again.
beforeEach(({ task, skip }) => {
  if (task.tags?.includes('soak') !== true) skip();
});
