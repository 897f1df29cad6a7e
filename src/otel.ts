export type { OtelOptions } from './telemetry/otel.js';
export { otel } from './telemetry/otel-peer.js';
