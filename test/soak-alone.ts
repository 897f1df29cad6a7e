import { beforeEach } from 'vitest';

// From these files, a soak runs only the tests that `npm test` leaves out.
beforeEach(({ task, skip }) => {
  if (task.tags?.includes('soak') !== true) skip();
});
