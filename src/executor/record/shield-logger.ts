import type { Logger } from '../../contract/logger.js';

type Level = keyof Logger;

/** The host program's logger, so that one that throws changes no answer. */
export function shieldLogger(logger: Logger): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (data, message) => {
      try {
        logger[level](data, message);
      } catch {
        // Where should it be told? The log is what is broken.
      }
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
