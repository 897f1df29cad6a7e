import { expect, it, vi } from 'vitest';
import { systemClock } from '../../platform/clock/clock.js';
import { pollUntil } from './poll-until.js';

const patient = { clock: systemClock, patienceMs: 60_000, stopped: new Promise<void>(() => {}) };

it('looks when a signal comes, and not before', async () => {
  let send = (): void => {};
  const unlisten = vi.fn();
  const look = vi.fn(async () => look.mock.calls.length === 2);
  // Without its pauses, only signals cause a poll.
  const clock = { ...systemClock, after: () => () => {} };
  const polling = pollUntil(look, {
    ...{ ...patient, clock },
    onSignal: (onLook) => {
      send = onLook;
      return unlisten;
    },
  });
  await Promise.resolve();
  expect(look).not.toHaveBeenCalled();
  send();
  await vi.waitFor(() => expect(look).toHaveBeenCalledTimes(1));
  send();
  await polling;
  expect(look).toHaveBeenCalledTimes(2);
  expect(unlisten).toHaveBeenCalledOnce();
});

it('looks once more for a signal that comes during a look', async () => {
  let send = (): void => {};
  let looks = 0;
  const clock = { ...systemClock, after: () => () => {} };
  const polling = pollUntil(
    async () => {
      if (++looks === 1) send();
      return looks === 2;
    },
    {
      ...{ ...patient, clock },
      onSignal: (onLook) => {
        send = onLook;
        return () => {};
      },
    },
  );
  send();
  await polling;
  expect(looks).toBe(2);
});

it('finds what a lost signal would have shown', async () => {
  let looks = 0;
  await pollUntil(async () => ++looks === 2, { ...patient, onSignal: () => () => {} });
  expect(looks).toBe(2);
});
