import type { JsonObject } from './json.js';

/** pino's order of arguments, so that a pino logger fits as it is. */
export interface Logger {
  debug(data: JsonObject, message: string): void;
  info(data: JsonObject, message: string): void;
  warn(data: JsonObject, message: string): void;
  error(data: JsonObject, message: string): void;
}
