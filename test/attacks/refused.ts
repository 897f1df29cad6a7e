/** An operation that was refused; neither an escape nor a flaw. */
export class Refused extends Error {}
