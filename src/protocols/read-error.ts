/** A call that was asked for and cannot be read. It is answered in its place (`bad_args`), never dropped. */
export interface ReadError {
  /** Its position among all calls of the response, readable or not; from 0. */
  readonly index: number;
  /** The model's own, or `call_<index>`; left out when the input as a whole was not understood. */
  readonly id?: string;
  readonly name?: string;
  /** For the model: what was wrong, and what to send instead. */
  readonly message: string;
  /** The text or the stream ended inside it: what was cut off may only be the delivery. */
  readonly unfinished?: true;
}
