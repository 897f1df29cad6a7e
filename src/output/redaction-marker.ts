export { REDACTION_MARKER } from '../contract/redaction-marker.js';
